import { findAsset, findWatchedChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import type { ConsumerCursorTable } from "../handover/handoverTables.ts";
import { findRoutes } from "../intent/routes/findRoutes.ts";
import { findPayoutPath, type PayoutPath } from "../intent/routes/payoutPath.ts";
import { ensureDeployment } from "../intent/deployment.ts";
import { lockIntents, type IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { decideIntents, type DepositWorld } from "./decide/applyDecisions.ts";
import { readFacts, type IntentCase } from "./decide/readFacts.ts";
import type { MovementRow } from "../watch/movement.ts";
import { applyMovement, newDeposit, type Deposit } from "./deposit.ts";
import { depositId } from "./depositId.ts";
import { isBelowMinimum } from "./holding/dust.ts";
import { requiredConfirmations, requiredSeconds } from "./finality.ts";
import type { DepositChange } from "./deposit.ts";
import {
  listMovementsWithDeposit,
  markSummedStale,
  markUnsummed,
  refreshHoldings,
  refreshRemaindersAfter,
} from "./holding/holdingStore.ts";
import { listInboundMovements } from "./store.ts";
import { insertUnmatchedMints } from "../watch/store/unmatchedMintStore.ts";
import { consumeMovements, retryQuarantined, type MovementConsumer } from "../handover/consumeMovements.ts";

/** Movements per transaction. */
const BATCH_MAX = 2_000;

/** Quarantined intents retried per call. */
const RETRIED_MAX = 10;

/**
 * Processes one batch of the movements that the watch station has recorded since the last call: it creates a deposit
 * for each new movement into an inbox, updates the deposits of changed ones, and notes dust in the sums of its inbox.
 * An intent that fails is quarantined and retried later. `isDone` means that no movement is left, `hasPassed` that
 * there were some.
 */
export async function processMovements(
  world: DepositWorld,
  chain: Caip2,
): Promise<{ isDone: boolean; hasPassed: boolean }> {
  // Before the transaction: the first call of a new database writes.
  const deployment = Buffer.from((await ensureDeployment(world)).deploymentId).toString("hex");
  const consumer: MovementConsumer<void> = {
    station: "deposit",
    chain,
    cursorTable: "deposit_cursor",
    direction: "in",
    batchMax: BATCH_MAX,
    list: listInboundMovements,
    apply: (tx, batch) => applyMovements(tx, { ...world, deployment }, batch),
  };
  const { isDone, hasPassed } = await consumeMovements(world, consumer);
  const retried = await retryQuarantined(world, consumer, RETRIED_MAX);
  return { isDone, hasPassed: hasPassed || retried.length > 0 };
}

/** With what the ids of deposits begin. */
type MovementWorld = DepositWorld & { readonly deployment: string };

type MovementBatch = {
  movements: readonly MovementRow[];
  /** The cursor after this batch. */
  upto: ConsumerCursorTable;
};

async function applyMovements(tx: Tx, world: MovementWorld, batch: MovementBatch): Promise<void> {
  const { upto } = batch;
  const at = world.clock.now();
  await insertUnmatchedMints(tx, batch.movements, at);
  const movements = await listPayments(tx, batch.movements);
  const { chain } = upto;
  const intents = await lockIntents(tx, [...new Set(movements.map((movement) => movement.intent_id))]);
  const intentOf = new Map(intents.map((intent) => [intent.id, intent]));
  const routesOf = await findRoutes({ db: tx, memory: world.memory }, intents);
  const pathOf: PathOf = (intent, asset) => findPayoutPath(intent, routesOf.get(intent.id) ?? [], asset);
  const decimals = new Map(
    world.catalog.assets.filter((asset) => asset.chain === chain).map((asset) => [asset.token, asset.decimals]),
  );
  const small = movements.filter((movement) => {
    const intent = intentOf.get(movement.intent_id);
    return (
      intent !== undefined &&
      isBelowMinimum(intent, movement, {
        path: pathOf(intent, movement),
        tokenDecimals: decimals.get(movement.token),
      })
    );
  });
  const resized = movements.filter((movement) => movement.is_resized && !small.includes(movement));
  const deposited = await listMovementsWithDeposit(tx, [...small, ...resized]);
  const dust = new Set(small.filter(({ id }) => !deposited.has(id)));
  // A provider may have shown them first as dust.
  await markSummedStale(
    tx,
    resized.filter(({ id }) => !deposited.has(id)),
  );
  await markUnsummed(
    tx,
    [...dust].filter((movement) => {
      const intent = intentOf.get(movement.intent_id);
      return intent !== undefined && pathOf(intent, movement) !== undefined;
    }),
  );
  const decided = movements.filter((movement) => !dust.has(movement));
  const cases = await buildCases(tx, world, { intents, movements: decided, pathOf, upto, at });
  await decideIntents(tx, world, { cases, at });
  await refreshHoldings(tx, await refreshRemaindersAfter(tx, movements));
}

/**
 * The movements without what a bridge gave: that was a deposit on the chain where the bridge took it. A provider may
 * show it without the bridge's logs, so that it became a deposit or dust. Then it is taken back.
 */
async function listPayments(tx: Tx, movements: readonly MovementRow[]): Promise<MovementRow[]> {
  const given = movements.filter(({ explained_by }) => explained_by !== null);
  const deposited = await listMovementsWithDeposit(tx, given);
  const summed = given.filter(({ id, direction }) => direction === "in" && !deposited.has(id));
  await markSummedStale(tx, summed);
  return movements.filter(({ id, explained_by }) => explained_by === null || deposited.has(id));
}

type PathOf = (intent: IntentRow, asset: Pick<MovementRow, "chain" | "token">) => PayoutPath | undefined;

type CasesInput = {
  intents: readonly IntentRow[];
  /** Without dust. */
  movements: readonly MovementRow[];
  pathOf: PathOf;
  upto: ConsumerCursorTable;
  at: Date;
};

/** The facts of the intents of these movements, with the deposits that the movements make or change. */
async function buildCases(tx: Tx, world: MovementWorld, batch: CasesInput): Promise<IntentCase[]> {
  const { movements, upto, at } = batch;
  const movementsByIntent = Map.groupBy(movements, (movement) => movement.intent_id);
  const cases = await readFacts(tx, world, {
    intents: batch.intents.filter(({ id }) => movementsByIntent.has(id)),
    chain: upto.chain,
    movementIds: movements.map((movement) => movement.id),
    upto,
    at,
  });
  return cases.map(({ intent, facts }) => {
    const known = new Map(facts.known().map((deposit) => [deposit.movement_id, deposit]));
    const changes = (movementsByIntent.get(intent.id) ?? []).map((movement): DepositChange => {
      const [before, path] = [known.get(movement.id), batch.pathOf(intent, movement)];
      const after = before
        ? applyMovement(before, movement, { hasPayoutPath: path !== undefined, at })
        : createDeposit(world, { intent, movement, path, at });
      return { before, after };
    });
    return { intent, facts: facts.withDeposits(changes) };
  });
}

function createDeposit(
  world: MovementWorld,
  input: { intent: IntentRow; movement: MovementRow; path: PayoutPath | undefined; at: Date },
): Deposit {
  const { movement, path } = input;
  const tiers = findWatchedChain(world.catalog, movement.chain)?.finality ?? [];
  return newDeposit({
    ...input,
    id: depositId({ ...movement, deployment: world.deployment }),
    hasPayoutPath: path !== undefined,
    // What counts has pinned decimals. Those of held deposits are for display only.
    tokenDecimals: path?.decimals ?? findAsset(world.catalog, movement.chain, movement.token)?.decimals ?? 0,
    requiredConfirmations: requiredConfirmations(tiers[0]?.finality),
    requiredSeconds: requiredSeconds(tiers[0]?.finality),
  });
}
