import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { balancesSince } from "../../chain/reader.ts";
import { listInboxesOfIntents } from "../../intent/inboxStore.ts";
import { isolateIntents } from "../../handover/isolateIntents.ts";
import { findPayoutPath } from "../../intent/routes/payoutPath.ts";
import { lockIntents } from "../../intent/store.ts";
import { addMs } from "../../kernel/clock.ts";
import { blocksIn, PROVIDER_LAG } from "../../watch/blockTime.ts";
import { findCursor } from "../../watch/store/store.ts";
import type { World } from "../../world.ts";
import { decideIntents, type DepositWorld } from "../decide/applyDecisions.ts";
import { readFacts } from "../decide/readFacts.ts";
import { addDustBlocks, countWaitingDust, type Holding } from "../holding/dust.ts";
import { listUnverifiedHoldings } from "../holding/dustReads.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

type VerifyDustWorld = DepositWorld & Pick<World, "wake">;

/** Inboxes per call. */
const INBOXES_MAX = 20;
/** The wait before the providers are asked again about an inbox. */
const RETRY_MS = 60_000;

/**
 * Counts dust above the single-provider limit once enough providers confirm that its inbox holds all of it. One balance
 * confirms any number of transfers. Returns the number of inboxes that the providers were asked about.
 */
export async function verifyDust(world: VerifyDustWorld, chain: Chain): Promise<number> {
  const needed = findWatchedChain(world.catalog, chain.caip2)?.agreement?.providers ?? 1;
  const due = await listUnverifiedHoldings(world.db.root, {
    chain: chain.caip2,
    at: world.clock.now(),
    waitMsMax: RETRY_MS,
    limit: INBOXES_MAX,
  });
  for (const [token, holdings] of Map.groupBy(due, (holding) => holding.token)) {
    const confirmed = await findConfirmed(world, chain, { token, holdings, needed });
    for (const holding of holdings)
      await isolateIntents(world, {
        chain: chain.caip2,
        work: "verify dust",
        intentIds: [holding.intent_id],
        step: () => saveResult(world, { holding, isConfirmed: confirmed.has(holding.intent_id) }),
      });
  }
  return due.length;
}

type Question = { token: string; holdings: readonly Holding[]; needed: number };

/** Intents whose inbox holds at least the counted money and the dust, by the word of enough providers. */
async function findConfirmed(
  world: VerifyDustWorld,
  chain: Chain,
  { token, holdings, needed }: Question,
): Promise<Set<string>> {
  const cursor = await findCursor(world.db, chain.caip2);
  if (cursor === undefined) return new Set();
  const intentIds = holdings.map((holding) => holding.intent_id);
  const addresses = await listInboxesOfIntents(world.db, { chain: chain.caip2, token, intentIds });
  const asked = holdings.filter((holding) => addresses.has(holding.intent_id));
  // As far below our newest block as an honest provider may be.
  const blocks = [cursor.number - blocksIn(world, chain, PROVIDER_LAG), ...asked.map((holding) => holding.dust_block)];
  const blockNumber = blocks.reduce((highest, block) => (block > highest ? block : highest));
  const owners = asked.map((holding) => addresses.get(holding.intent_id) ?? "");
  const replies = await chain.providers.runAll((reader) => balancesSince(reader, token, { owners, blockNumber }));
  const confirmed = asked.filter((holding, index) => {
    const balances = replies.flatMap((reply) => ("answer" in reply ? [reply.answer[index] ?? 0n] : []));
    const sufficient = balances.filter((units) => units >= heldUnits(holding)).length;
    const isConfirmed = sufficient >= needed && sufficient > balances.length - sufficient;
    if (!isConfirmed && balances.length > sufficient)
      raiseAlarm(
        world.log,
        {
          alarm: "provider_disagreement",
          chain: chain.caip2,
          intent: holding.intent_id,
          balances: balances.map(String),
        },
        "small deposits wait: the chain's providers disagree on the balance of their inbox",
      );
    return isConfirmed;
  });
  return new Set(confirmed.map((holding) => holding.intent_id));
}

/** What the inbox must hold for all of its dust to be there. */
function heldUnits({ unswept_units, waiting_held_units }: Holding): bigint {
  return unswept_units + waiting_held_units;
}

async function saveResult(
  world: VerifyDustWorld,
  { holding, isConfirmed }: { holding: Holding; isConfirmed: boolean },
): Promise<void> {
  const at = world.clock.now();
  const { chain } = holding;
  await world.db.transaction(async (tx) => {
    const intents = await lockIntents(tx, [holding.intent_id]);
    const cases = await readFacts(tx, world, { intents, chain, at });
    // processMovements runs first; the inbox stays due.
    if (cases.some(({ facts }) => facts.isBehind(chain))) return;
    const decided = cases.map(({ intent, facts }) => ({
      intent,
      facts: facts.withHoldings((known) => {
        if (known.chain !== chain || known.token !== holding.token || known.verify_from === null) return known;
        const isSame = known.dust_block === holding.dust_block && heldUnits(known) === heldUnits(holding);
        if (!isConfirmed || known.is_stale || !isSame) return { ...known, verify_from: addMs(at, RETRY_MS) };
        const verified = { ...known, verify_from: null, verified_block: known.dust_block };
        const minimumUnits = findPayoutPath(intent, facts.routes, known)?.minimumUnits ?? 0n;
        if (known.waiting_units >= minimumUnits) return countWaitingDust(verified, at);
        return addDustBlocks(verified, { blocks: [], uptoBlock: known.dust_block, minimumUnits, at });
      }),
    }));
    await decideIntents(tx, world, { cases: decided, at });
  });
  if (isConfirmed) world.wake.notify("events");
}
