import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { array } from "../../db/parameters.ts";
import type { World } from "../../world.ts";
import { movementKey, type MovementRow, type LocatedTransfer } from "../movement.ts";
import { rereadNumber } from "../store/store.ts";
import { verifyWithProvider } from "./verifyWithProvider.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

/** Cooldown of a provider that the others contradict. */
const COOLDOWN_MS = 600_000;
/** Interval of checks per chain, so that a provider with constant conflicts does not delay other work. */
const CHECK_INTERVAL_MS = 60_000;

/** When a conflict was last checked, on the monotonic clock. */
const lastCheck = perChain(() => ({ atMs: -Infinity }));

/**
 * Runs when not every located transfer was written. Movements in reread blocks ignore what a new block says: only a
 * reorg of their block, or a reread by enough providers, changes them. All providers verify one such movement; when
 * more confirm than deny it, the denying ones get a cooldown.
 */
export async function resolveFinalConflicts(
  world: Pick<World, "db" | "log" | "clock" | "memory">,
  chain: Chain,
  located: readonly LocatedTransfer[],
): Promise<void> {
  const last = lastCheck(world, chain);
  const nowMs = world.clock.monotonicMs();
  if (nowMs < last.atMs + CHECK_INTERVAL_MS) return;
  const conflicts = await listFinalConflicts(world, chain, located);
  const [movement] = conflicts;
  if (movement === undefined) return;
  last.atMs = nowMs;
  const replies = await chain.providers.runAll(
    (reader) => verifyWithProvider(world, reader, { movement }),
    "available",
  );
  const providersWith = (verdict: "confirms" | "denies") =>
    replies.flatMap((each) => ("answer" in each && each.answer.verdict === verdict ? [each.provider] : []));
  const [confirming, denying] = [providersWith("confirms"), providersWith("denies")];
  if (confirming.length > denying.length)
    for (const provider of denying) chain.providers.coolDown(provider, COOLDOWN_MS);
  raiseAlarm(
    world.log,
    {
      alarm: "final_contradicted",
      chain: chain.caip2,
      movements: conflicts.map(({ id }) => String(id)),
      chainTx: movement.chain_tx,
      confirming,
      denying,
    },
    "a provider contradicts final movements; they stay unchanged",
  );
}

/** Recorded movements in reread blocks that differ from the located transfers. */
async function listFinalConflicts(
  { db }: Pick<World, "db">,
  { caip2 }: Chain,
  located: readonly LocatedTransfer[],
): Promise<MovementRow[]> {
  const chainTxs = located.map((one) => one.chainTx);
  const { rows } = await sql<MovementRow>`
    select recorded.* from (select distinct * from unnest(${array(chainTxs, "text")})) as asked (chain_tx) cross join lateral (
      select * from movement where movement.chain = ${caip2} and movement.chain_tx = asked.chain_tx offset 0
    ) as recorded
    where recorded.orphaned_at is null and recorded.block_number <= ${rereadNumber(caip2)}`.execute(db.root);
  const seen = new Map(located.map((transfer) => [movementKey(transfer), transfer]));
  return rows.filter((row) => {
    const transfer = seen.get(movementKey({ ...row, chainTx: row.chain_tx }));
    return transfer !== undefined && !matchesTransfer(row, transfer);
  });
}

function matchesTransfer(row: MovementRow, seen: LocatedTransfer): boolean {
  const isInBlock = row.block_hash === seen.blockHash && row.block_number === seen.blockNumber;
  const isInPlace = isInBlock && row.place === seen.place;
  return isInPlace && row.amount_units === seen.amountUnits && row.counterparty === seen.counterparty;
}
