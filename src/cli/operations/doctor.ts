import { sql } from "kysely";
import { verifyChain } from "../../chain/verifyChain.ts";
import { ProviderFailed } from "../../chain/driver.ts";
import { ChainRefused } from "../../chain/providers.ts";
import type { ChainConfig } from "../../config.ts";
import { addMs } from "../../kernel/clock.ts";
import { formatUnits } from "../../kernel/units.ts";
import { readScannerHealth } from "../../watch/health.ts";
import { listCursors } from "../../watch/store.ts";
import type { World } from "../../world.ts";
import { examineAgreement } from "./agreement.ts";
import { examineFeeds } from "./feeds.ts";
import type { Finding } from "./finding.ts";

// What an operator would look at first, asked of the chains and of the database in one go. It changes nothing.

/** A transaction that is on its way for longer has too low a fee, or its chain stands still. */
const SENDING_MS_MAX = 600_000;
const BROKEN_SHOWN_MAX = 5;
/** Half a minute of the quickest chains; with more the service makes up for an outage, or cannot keep up. */
const BEHIND_BLOCKS_MAX = 100n;

export async function examine(world: World): Promise<Finding[]> {
  const health = await readScannerHealth(world);
  const reached = new Map((await listCursors(world.db)).map(({ chain, number }) => [chain, number]));
  const chains = await Promise.all(
    world.config.chains.map((config) => {
      const isWatched = health.get(config.caip2) === true;
      return examineChain(world, config, { isWatched, reached: reached.get(config.caip2) });
    }),
  );
  return [...chains.flat(), ...(await examineSums(world)), ...(await examineWaiting(world))];
}

type Watch = { isWatched: boolean; reached: bigint | undefined };

async function examineChain(world: World, config: ChainConfig, watch: Watch): Promise<Finding[]> {
  const chain = world.chains.get(config.caip2);
  if (chain === undefined) return [];
  const watched = watchFinding(config, watch);
  try {
    const verdict = await verifyChain(config, chain, world.log);
    if (verdict === "unreachable") return [watched, wrong(`${config.name}: provider`, "none answers")];
    const [head, wei] = await Promise.all([
      chain.providers.head("latest"),
      chain.providers.nativeBalance(chain.gasAccount.address),
    ]);
    const [agreement, feeds] = await Promise.all([examineAgreement(world, config, chain), examineFeeds(config, chain)]);
    const gas = `${formatUnits(wei, config.native.decimals)} ${config.native.symbol} in ${chain.gasAccount.address}`;
    return [
      {
        what: `${config.name}: configuration`,
        verdict: "right",
        found: `agrees with the chain at block ${head.number}`,
      },
      watchFinding(config, watch, head.number),
      ...agreement,
      ...feeds,
      wei > 0n
        ? { what: `${config.name}: gas`, verdict: "right", found: gas }
        : wrong(`${config.name}: gas`, `${gas}: no settlement can be sent`),
    ];
  } catch (error) {
    if (error instanceof ChainRefused || error instanceof ProviderFailed)
      return [watched, wrong(`${config.name}: configuration`, error.message)];
    throw error;
  }
}

/** Whether somebody looks at the chain, and how much of it is still to be read. */
function watchFinding({ name }: ChainConfig, { isWatched, reached }: Watch, head?: bigint): Finding {
  const what = `${name}: watched`;
  const missing = head === undefined || reached === undefined ? 0n : head - reached;
  const isBehind = missing > BEHIND_BLOCKS_MAX;
  const rest = isBehind ? `, read up to block ${reached}, ${missing} blocks behind` : "";
  if (!isWatched) return wrong(what, `nobody has looked at it for long${rest}`);
  return { what, verdict: isBehind ? "attention" : "right", found: `by a running process${rest}` };
}

/** What the intents say must be what their deposits and settlements add up to. Each query returns no row when that is so. */
async function examineSums(world: World): Promise<Finding[]> {
  const counted = await sql<{ id: string }>`
    select intent.id from intent
    left join (select intent_id, sum(counted_units) as units from deposit where status = 'counted' group by intent_id) as sums
      on sums.intent_id = intent.id
    where intent.counted_units <> coalesce(sums.units, 0) order by intent.id limit ${BROKEN_SHOWN_MAX}`.execute(
    world.db.read,
  );
  const settled = await sql<{ id: string }>`
    select intent.id from intent
    left join (
      select intent_id, token, chain, sum(gross_units) as gross, sum(fee_units) as fee, sum(net_units) as net
      from settlement where status = 'landed' group by intent_id, token, chain
    ) as sums
      on sums.intent_id = intent.id and sums.token = intent.payout_token
      and sums.chain = intent.payout_namespace || ':' || intent.payout_chain_reference
    where (intent.settled_units, intent.fee_units, intent.net_units)
      <> (coalesce(sums.gross, 0), coalesce(sums.fee, 0), coalesce(sums.net, 0)) order by intent.id limit ${BROKEN_SHOWN_MAX}`.execute(
    world.db.read,
  );
  return [sumFinding("sums: counted deposits", counted.rows), sumFinding("sums: landed settlements", settled.rows)];
}

function sumFinding(what: string, broken: readonly { id: string }[]): Finding {
  if (broken.length === 0) return { what, verdict: "right", found: "are what the intents say" };
  return wrong(what, `differ from what these intents say: ${broken.map(({ id }) => id).join(", ")}`);
}

/** What waits for a person, or for longer than it should. */
async function examineWaiting(world: World): Promise<Finding[]> {
  const since = addMs(world.clock.now(), -SENDING_MS_MAX);
  const { rows } = await sql<{
    held_settlements: bigint;
    failed_settlements: bigint;
    held_deposits: bigint;
    old_sendings: bigint;
  }>`
    select
      (select count(*) from settlement where status = 'held') as held_settlements,
      (select count(*) from settlement where status = 'failed') as failed_settlements,
      (select count(*) from deposit where status = 'held') as held_deposits,
      (select count(*) from sending where status = 'signed' and created_at < ${since}) as old_sendings`.execute(
    world.db.read,
  );
  const [row] = rows;
  return [
    waiting("settlements held", row?.held_settlements),
    waiting("settlements failed", row?.failed_settlements),
    waiting("deposits held", row?.held_deposits),
    waiting("transactions on their way for over ten minutes", row?.old_sendings),
  ];
}

function waiting(what: string, count: bigint | undefined): Finding {
  return { what, verdict: count === undefined || count === 0n ? "right" : "attention", found: String(count ?? 0n) };
}

function wrong(what: string, found: string): Finding {
  return { what, verdict: "wrong", found };
}
