import { findAsset, findWatchedChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import type { HandoverCursorTable } from "../db/roadSchema.ts";
import { findRoutes } from "../intent/routes/findRoutes.ts";
import { findPayoutWay, type PayoutWay } from "../intent/routes/payoutWay.ts";
import { ensureDeployment } from "../intent/deployment.ts";
import { lockIntents, type IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { applyDepositChanges, type DepositWorld, type IntentChangeSet } from "./applyDepositChanges.ts";
import type { MovementRow } from "../watch/movement.ts";
import { applyMovement, newDeposit, type Deposit } from "./deposit.ts";
import { depositId } from "./depositId.ts";
import { isBelowMinimum } from "./dust/dust.ts";
import { lowestFinalBlock, requiredConfirmations, type ChainHead } from "./finality.ts";
import type { DepositChange } from "./computeIntentProgress.ts";
import {
  listMovementsWithDeposit,
  listUnchangedHoldings,
  noteDust,
  refreshHoldings,
  refreshRestsAfter,
} from "./dust/dustStore.ts";
import { listInboundMovements, listHeads, listIntentsWithPendingMovements, listDepositsToDecide } from "./store.ts";
import { noteMints } from "../watch/store/awaitedBurnStore.ts";
import { processHandover, retryQuarantined, type Handover } from "../watch/store/processHandover.ts";

/** Movements per transaction. */
const BATCH_MAX = 2_000;

/** Quarantined intents retried per call. */
const RETRIED_MAX = 10;

/**
 * Processes one batch of the movements that the watch station has recorded since the last call: it creates a deposit for each new
 * movement into an inbox, updates the deposits of changed ones, and notes dust in the sums of its inbox. An intent that fails is quarantined
 * and retried later. `isDone` means that no movement is left, `hasPassed` that there were some.
 */
export async function processMovements(
  world: DepositWorld,
  chain: Caip2,
): Promise<{ isDone: boolean; hasPassed: boolean }> {
  // Before the transaction: the first call of a new database writes.
  const deployment = Buffer.from((await ensureDeployment(world)).deploymentId).toString("hex");
  const handover: Handover<void> = {
    station: "deposit",
    chain,
    cursorTable: "deposit_cursor",
    direction: "in",
    batchMax: BATCH_MAX,
    list: listInboundMovements,
    apply: (tx, batch) => applyMovements(tx, { ...world, deployment }, batch),
  };
  const { isDone, hasPassed } = await processHandover(world, handover);
  const retried = await retryQuarantined(world, handover, RETRIED_MAX);
  return { isDone, hasPassed: hasPassed || retried.length > 0 };
}

/** With what the ids of deposits begin. */
type MovementWorld = DepositWorld & { readonly deployment: string };

type MovementBatch = {
  movements: readonly MovementRow[];
  /** The cursor after this batch. */
  upto: HandoverCursorTable;
};

async function applyMovements(tx: Tx, world: MovementWorld, batch: MovementBatch): Promise<void> {
  const { upto } = batch;
  // What a bridge gives was a deposit on the chain where the bridge took it.
  const movements = batch.movements.filter(({ explained_by }) => explained_by === null);
  const at = world.clock.now();
  await noteMints(tx, batch.movements, at);
  const { chain } = upto;
  const intents = await lockIntents(tx, [...new Set(movements.map((movement) => movement.intent_id))]);
  const intentOf = new Map(intents.map((intent) => [intent.id, intent]));
  const routesOf = await findRoutes({ db: tx, memory: world.memory }, intents);
  const wayOf: WayOf = (intent, asset) => findPayoutWay(intent, routesOf.get(intent.id) ?? [], asset);
  const decimals = new Map(
    world.catalog.assets.filter((asset) => asset.chain === chain).map((asset) => [asset.token, asset.decimals]),
  );
  const small = movements.filter((movement) => {
    const intent = intentOf.get(movement.intent_id);
    return (
      intent !== undefined &&
      isBelowMinimum(intent, movement, {
        way: wayOf(intent, movement),
        tokenDecimals: decimals.get(movement.token),
      })
    );
  });
  const deposited = await listMovementsWithDeposit(tx, small);
  const dust = new Set(small.filter(({ id }) => !deposited.has(id)));
  await noteDust(
    tx,
    [...dust].filter((movement) => {
      const intent = intentOf.get(movement.intent_id);
      return intent !== undefined && wayOf(intent, movement) !== undefined;
    }),
  );
  const heads = await listHeads(tx);
  const cases = await buildIntentChangeSets(tx, world, {
    intents,
    movements: movements.filter((movement) => !dust.has(movement)),
    wayOf,
    upto,
    heads,
    at,
  });
  await applyDepositChanges(tx, world, { cases, heads, at });
  await refreshHoldings(tx, await refreshRestsAfter(tx, movements));
}

type WayOf = (intent: IntentRow, asset: Pick<MovementRow, "chain" | "token">) => PayoutWay | undefined;

type ChangeSetInput = {
  intents: readonly IntentRow[];
  /** Without dust. */
  movements: readonly MovementRow[];
  wayOf: WayOf;
  upto: HandoverCursorTable;
  heads: ReadonlyMap<string, ChainHead>;
  at: Date;
};

async function buildIntentChangeSets(tx: Tx, world: MovementWorld, batch: ChangeSetInput): Promise<IntentChangeSet[]> {
  const { upto } = batch;
  const movementsByIntent = Map.groupBy(batch.movements, (movement) => movement.intent_id);
  const intents = batch.intents.filter(({ id }) => movementsByIntent.has(id));
  const intentIds = intents.map((intent) => intent.id);
  // After the heads: these may belong to a branch that has replaced a block of the batch.
  const intentsWithPendingMovements = await listIntentsWithPendingMovements(tx, upto, intentIds);
  const deposits = await listDepositsToDecide(tx, {
    intentIds,
    movementIds: batch.movements.map((movement) => movement.id),
    chain: upto.chain,
    aboveBlock: lowestFinalBlock(
      findWatchedChain(world.catalog, upto.chain)?.finality ?? [],
      batch.heads.get(upto.chain),
    ),
  });
  const holdingsOf = await listUnchangedHoldings(tx, intentIds);
  const depositsByIntent = Map.groupBy(deposits, (deposit) => deposit.intent_id);
  return intents.map((intent) => ({
    intent,
    hasPendingMovements: intentsWithPendingMovements.has(intent.id),
    holdings: holdingsOf.get(intent.id) ?? [],
    changes: buildDepositChanges(world, {
      intent,
      movements: movementsByIntent.get(intent.id) ?? [],
      known: depositsByIntent.get(intent.id) ?? [],
      wayOf: batch.wayOf,
      at: batch.at,
    }),
  }));
}

/** Includes unchanged deposits, because they add to the counted amount and to the exposure. */
function buildDepositChanges(
  world: MovementWorld,
  input: { intent: IntentRow; movements: readonly MovementRow[]; known: readonly Deposit[]; wayOf: WayOf; at: Date },
): DepositChange[] {
  const { intent, at } = input;
  const changes = new Map<bigint, DepositChange>();
  for (const deposit of input.known) changes.set(deposit.movement_id, { before: deposit, after: deposit });
  for (const movement of input.movements) {
    const before = changes.get(movement.id)?.before;
    const way = input.wayOf(intent, movement);
    const after = before
      ? applyMovement(before, movement, { hasPayoutWay: way !== undefined, at })
      : createDeposit(world, { intent, movement, way, at });
    changes.set(movement.id, { before, after });
  }
  return [...changes.values()];
}

function createDeposit(
  world: MovementWorld,
  input: { intent: IntentRow; movement: MovementRow; way: PayoutWay | undefined; at: Date },
): Deposit {
  const { movement, way } = input;
  const tiers = findWatchedChain(world.catalog, movement.chain)?.finality ?? [];
  return newDeposit({
    ...input,
    id: depositId({ ...movement, deployment: world.deployment }),
    hasPayoutWay: way !== undefined,
    // What counts has pinned decimals. Those of held deposits are for display only.
    tokenDecimals: way?.decimals ?? findAsset(world.catalog, movement.chain, movement.token)?.decimals ?? 0,
    requiredConfirmations: requiredConfirmations(tiers[0]?.finality),
  });
}
