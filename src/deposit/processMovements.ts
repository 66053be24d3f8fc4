import { findAsset, findWatchedChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import type { HandoverCursorTable } from "../db/schema.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import { lockIntents, type IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { newId } from "../kernel/ids.ts";
import { applyDepositChanges, type DepositWorld, type IntentChangeSet } from "./applyDepositChanges.ts";
import type { MovementRow } from "../watch/movement.ts";
import { applyMovement, newDeposit, type Deposit } from "./deposit.ts";
import { lowestFinalBlock, requiredConfirmations, type ChainHead } from "./finality.ts";
import type { DepositChange } from "./computeIntentProgress.ts";
import { listInboundMovements, listHeads, listIntentsWithPendingMovements, listDepositsToDecide } from "./store.ts";
import { advanceHandoverCursor, lockHandoverCursor } from "../watch/store/handoverStore.ts";

/** Movements per transaction. */
const BATCH_MAX = 500;

/**
 * Processes one batch of the movements that the watch station has recorded since the last call: it creates a deposit for each new
 * movement into an inbox, and updates the deposits of changed ones. `taken` counts the movements; `isDone` means that none is left.
 */
export async function processMovements(world: DepositWorld, chain: Caip2): Promise<{ taken: number; isDone: boolean }> {
  const at = world.clock.now();
  const processed = await world.db.transaction(async (tx) => {
    const cursor = await lockHandoverCursor(tx, "deposit_cursor", chain);
    // The heads are read first: a head read after the movements may belong to a branch that has replaced their blocks.
    const heads = await listHeads(tx);
    const movements = await listInboundMovements(tx, cursor, BATCH_MAX);
    const last = movements.at(-1);
    if (last === undefined) return 0;
    const nextCursor = { chain, revision: last.revision, movement_id: last.id };
    const cases = await buildIntentChangeSets(tx, world, { nextCursor, movements, heads, at });
    await applyDepositChanges(tx, world, { cases, heads, at });
    await advanceHandoverCursor(tx, "deposit_cursor", nextCursor);
    return movements.length;
  });
  return { taken: processed, isDone: processed < BATCH_MAX };
}

type MovementBatch = {
  /** The cursor after this batch. */
  nextCursor: HandoverCursorTable;
  movements: readonly MovementRow[];
  heads: ReadonlyMap<string, ChainHead>;
  at: Date;
};

async function buildIntentChangeSets(tx: Tx, world: DepositWorld, batch: MovementBatch): Promise<IntentChangeSet[]> {
  const { chain } = batch.nextCursor;
  const intents = await lockIntents(tx, [...new Set(batch.movements.map((movement) => movement.intent_id))]);
  const intentIds = intents.map((intent) => intent.id);
  const intentsWithPendingMovements = await listIntentsWithPendingMovements(tx, batch.nextCursor, intentIds);
  const deposits = await listDepositsToDecide(tx, {
    intentIds,
    movementIds: batch.movements.map((movement) => movement.id),
    chain,
    aboveBlock: lowestFinalBlock(findWatchedChain(world.catalog, chain)?.finality ?? [], batch.heads.get(chain)),
  });
  const movementsByIntent = Map.groupBy(batch.movements, (movement) => movement.intent_id);
  const depositsByIntent = Map.groupBy(deposits, (deposit) => deposit.intent_id);
  return intents.map((intent) => ({
    intent,
    hasPendingMovements: intentsWithPendingMovements.has(intent.id),
    changes: buildDepositChanges(world, {
      intent,
      movements: movementsByIntent.get(intent.id) ?? [],
      known: depositsByIntent.get(intent.id) ?? [],
      at: batch.at,
    }),
  }));
}

/** Includes unchanged deposits, because they add to the counted amount and to the exposure. */
function buildDepositChanges(
  world: DepositWorld,
  input: { intent: IntentRow; movements: readonly MovementRow[]; known: readonly Deposit[]; at: Date },
): DepositChange[] {
  const { intent, at } = input;
  const changes = new Map<bigint, DepositChange>();
  for (const deposit of input.known) changes.set(deposit.movement_id, { before: deposit, after: deposit });
  for (const movement of input.movements) {
    const before = changes.get(movement.id)?.before;
    const after = before
      ? applyMovement(before, movement, { intent, at })
      : createDeposit(world, { intent, movement, at });
    changes.set(movement.id, { before, after });
  }
  return [...changes.values()];
}

function createDeposit(world: DepositWorld, input: { intent: IntentRow; movement: MovementRow; at: Date }): Deposit {
  const { movement } = input;
  const tiers = findWatchedChain(world.catalog, movement.chain)?.finality ?? [];
  return newDeposit({
    ...input,
    id: newId("dep", world.entropy),
    tokenDecimals: resolveTokenDecimals(world, input),
    requiredConfirmations: requiredConfirmations(tiers[0]?.finality),
  });
}

/** The intent pins the decimals of its payout token. Deposits in other tokens are held, and their decimals are for display only. */
function resolveTokenDecimals(
  world: DepositWorld,
  { intent, movement }: { intent: IntentRow; movement: MovementRow },
): number {
  if (isPayoutAsset(intent, movement)) return intent.payout_decimals;
  return findAsset(world.catalog, movement.chain, movement.token)?.decimals ?? 0;
}
