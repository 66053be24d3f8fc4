import { findAsset, findChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import type { HandoverCursorTable } from "../db/schema.ts";
import { isOnRail } from "../intent/payout.ts";
import { claimIntents, type IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { newId } from "../kernel/ids.ts";
import { applyChanges, type DepositWorld, type IntentCase } from "./applyChanges.ts";
import type { MovementRow } from "../watch/movement.ts";
import { followMovement, newDeposit, type Deposit } from "./deposit.ts";
import { lowestReach, requiredConfirmations, type ChainHead } from "./finality.ts";
import type { DepositChange } from "./progress.ts";
import { advanceCursor, claimCursor, listArrivals, listHeads, listUnheard, listWorkingSet } from "./store.ts";

/** Movements taken over in one transaction. */
const BATCH_MAX = 500;

/**
 * Takes over what the watch station has recorded on a chain since the last time: movements into inboxes become deposits, and
 * deposits follow what became of their movements. Returns how many were taken; fewer than the bound means that none is left.
 */
export async function takeMovements(world: DepositWorld, chain: Caip2): Promise<{ taken: number; isDone: boolean }> {
  const at = world.clock.now();
  const taken = await world.db.transaction(async (tx) => {
    const cursor = await claimCursor(tx, chain);
    // Before the movements: a head that is read after them may belong to a branch that has replaced theirs.
    const heads = await listHeads(tx);
    const movements = await listArrivals(tx, cursor, BATCH_MAX);
    const last = movements.at(-1);
    if (last === undefined) return 0;
    const taken = { chain, revision: last.revision, movement_id: last.id };
    const cases = await arrivalCases(tx, world, { taken, movements, heads, at });
    await applyChanges(tx, world, { cases, heads, at });
    await advanceCursor(tx, taken);
    return movements.length;
  });
  return { taken, isDone: taken < BATCH_MAX };
}

type ArrivalBatch = {
  /** Where the cursor will stand. */
  taken: HandoverCursorTable;
  movements: readonly MovementRow[];
  heads: ReadonlyMap<string, ChainHead>;
  at: Date;
};

async function arrivalCases(tx: Tx, world: DepositWorld, batch: ArrivalBatch): Promise<IntentCase[]> {
  const { chain } = batch.taken;
  const intents = await claimIntents(tx, [...new Set(batch.movements.map((movement) => movement.intent_id))]);
  const intentIds = intents.map((intent) => intent.id);
  const behind = await listUnheard(tx, batch.taken, intentIds);
  const known = await listWorkingSet(tx, {
    intentIds,
    movementIds: batch.movements.map((movement) => movement.id),
    chain,
    aboveBlock: lowestReach(findChain(world.catalog, chain)?.finality ?? [], batch.heads.get(chain)),
  });
  const movementsOf = Map.groupBy(batch.movements, (movement) => movement.intent_id);
  const knownOf = Map.groupBy(known, (deposit) => deposit.intent_id);
  return intents.map((intent) => ({
    intent,
    isBehind: behind.has(intent.id),
    changes: heardChanges(world, {
      intent,
      movements: movementsOf.get(intent.id) ?? [],
      known: knownOf.get(intent.id) ?? [],
      at: batch.at,
    }),
  }));
}

/** Every deposit in view, changed or not: the unchanged ones take part in what counts and in what is exposed. */
function heardChanges(
  world: DepositWorld,
  heard: { intent: IntentRow; movements: readonly MovementRow[]; known: readonly Deposit[]; at: Date },
): DepositChange[] {
  const { intent, at } = heard;
  const changes = new Map<bigint, DepositChange>();
  for (const deposit of heard.known) changes.set(deposit.movement_id, { before: deposit, after: deposit });
  for (const movement of heard.movements) {
    const before = changes.get(movement.id)?.before;
    const after = before ? followMovement(before, movement, { intent, at }) : receive(world, { intent, movement, at });
    changes.set(movement.id, { before, after });
  }
  return [...changes.values()];
}

function receive(world: DepositWorld, arrival: { intent: IntentRow; movement: MovementRow; at: Date }): Deposit {
  const { movement } = arrival;
  const tiers = findChain(world.catalog, movement.chain)?.finality ?? [];
  return newDeposit({
    ...arrival,
    id: newId("dep", world.entropy),
    tokenDecimals: decimalsOf(world, arrival),
    requiredConfirmations: requiredConfirmations(tiers[0]?.finality),
  });
}

/** What an intent is paid in is pinned on it; anything else is held, and its decimals only serve to show it. */
function decimalsOf(world: DepositWorld, { intent, movement }: { intent: IntentRow; movement: MovementRow }): number {
  if (isOnRail(intent, movement)) return intent.payout_decimals;
  return findAsset(world.catalog, movement.chain, movement.token)?.decimals ?? 0;
}
