import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { array } from "../../db/parameters.ts";
import type { World } from "../../world.ts";
import { getChainMemory } from "../chainMemory.ts";
import { movementKey, type MovementRow, type LocatedTransfer } from "../movement.ts";
import { rereadNumber } from "../store/store.ts";
import { verifyWithProvider } from "./verifyWithProvider.ts";

/** How long one rests whom the others contradict. */
const COOLDOWN_MS = 600_000;
/** Between two questions about one chain: who goes on to contradict must not hold up everything else. */
const CHECK_INTERVAL_MS = 60_000;

/**
 * Called when not all that was seen has been written. A movement that stands in a block which was agreed on stays there, whatever a new
 * block is said to hold: only a reorg that takes its block back, or another reading of final blocks, changes it. All providers are asked
 * for it then, and whoever tells otherwise rests where more of them confirm it.
 */
export async function resolveFinalConflicts(
  world: Pick<World, "db" | "log" | "clock" | "memory">,
  chain: Chain,
  sightings: readonly LocatedTransfer[],
): Promise<void> {
  const memory = getChainMemory(world, chain);
  const nowMs = world.clock.monotonicMs();
  if (nowMs < memory.conflictsCheckedAtMs + CHECK_INTERVAL_MS) return;
  const conflicts = await listFinalConflicts(world, chain, sightings);
  const [movement] = conflicts;
  if (movement === undefined) return;
  memory.conflictsCheckedAtMs = nowMs;
  const replies = await chain.providers.askEach((reader) => verifyWithProvider(reader, movement, []), "awake");
  const providersWith = (verdict: "confirms" | "denies") =>
    replies.flatMap((each) => ("answer" in each && each.answer.verdict === verdict ? [each.provider] : []));
  const [confirming, denying] = [providersWith("confirms"), providersWith("denies")];
  if (confirming.length > denying.length)
    for (const provider of denying) chain.providers.coolDown(provider, COOLDOWN_MS);
  world.log.error(
    {
      alarm: "final_contradicted",
      chain: chain.caip2,
      movements: conflicts.map(({ id }) => String(id)),
      chainTx: movement.chain_tx,
      confirming,
      denying,
    },
    "a provider tells movements otherwise that are final, and they stay as they are",
  );
}

/** What stands in blocks that were agreed on, and is not as it was seen. */
async function listFinalConflicts(
  { db }: Pick<World, "db">,
  { caip2 }: Chain,
  sightings: readonly LocatedTransfer[],
): Promise<MovementRow[]> {
  const chainTxs = sightings.map((one) => one.chainTx);
  const { rows } = await sql<MovementRow>`
    select * from movement where chain = ${caip2} and chain_tx = any(${array(chainTxs, "text")})
      and orphaned_at is null and block_number <= ${rereadNumber(caip2)}`.execute(db.root);
  const seen = new Map(sightings.map((sighting) => [movementKey(sighting), sighting]));
  return rows.filter((row) => {
    const sighting = seen.get(movementKey({ ...row, chainTx: row.chain_tx }));
    return sighting !== undefined && !matchesTransfer(row, sighting);
  });
}

function matchesTransfer(row: MovementRow, seen: LocatedTransfer): boolean {
  const isInPlace = row.block_hash === seen.blockHash && row.place === seen.place;
  return isInPlace && row.amount_units === seen.amountUnits && row.counterparty === seen.counterparty;
}
