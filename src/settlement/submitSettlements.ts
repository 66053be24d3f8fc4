import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { SettleRefused, type ChainSender, type PreparedSettlement, type SettleItem } from "../chain/sender.ts";
import type { Tx } from "../db/database.ts";
import { refreshHoldings } from "../deposit/holding/holdingStore.ts";
import { isCausedByData, stopsAllWork } from "../kernel/errors/classifyError.ts";
import { halveWhatFails } from "../kernel/errors/halveWhatFails.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { backoffMs, addMs } from "../kernel/clock.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import type { World } from "../world.ts";
import { isPriceReached } from "../intent/paymentStatus.ts";
import { toSettleItem } from "../intent/pins/ownInbox.ts";
import { lockIntents } from "../intent/store.ts";
import { assignToSweeps } from "./sweep/assignToSweeps.ts";
import { isCrossing, prepareCrossing } from "./crossing/prepareCrossing.ts";
import { findBalanceDisagreements } from "./agreement/findBalanceDisagreements.ts";
import { hasReadSinceRewind } from "./agreement/hasReadSinceRewind.ts";
import { SettlementChanges } from "./change/settlementChanges.ts";
import { afterFailedAttempt, type Settlement, type SettlementRow } from "./settlement.ts";
import {
  lockSettlements,
  listDueSettlements,
  listEmptySettlements,
  updateRetryAt,
  type DueSettlement,
} from "./store.ts";
import { raiseAlarm } from "../kernel/alarm/raiseAlarm.ts";

export type SubmitWorld = Pick<World, "db" | "clock" | "entropy" | "catalog" | "log" | "memory" | "config" | "bridge">;
type SubmitTarget = {
  chain: Chain;
  /** Once it aborts, nothing more is signed, so a stopping process leaves no new work. */
  signal?: AbortSignal | undefined;
};

/** Settlements reviewed per call. */
const DUE_MAX = 500;
/** Groups of a lane submitted per call: what is planned meanwhile waits for no more of them. */
const GROUPS_MAX = 40;
/** Groups of a lane submitted concurrently. Each uses a session of the pool that all loops and requests share. */
const CONCURRENT_GROUPS_MAX = 4;
/**
 * The wait of a batch after a provider's or an internal error. Each further failure of its group doubles it, up to the
 * maximum.
 */
const BATCH_WAIT = { firstMs: 1_000, maxMs: 30_000 };

/** Consecutive failures of each group of batches, by chain and batch key. */
const FAILURES = { create: () => new Map<string, number>() };

/**
 * Submits a chain's planned settlements: asks the chain which inboxes would settle, stores signed bytes for those and
 * postpones the others. The chain's sender broadcasts them later. A batch that fails waits, and does not delay the
 * other batches. Returns the number submitted.
 */
export async function submitSettlements(world: SubmitWorld, target: SubmitTarget): Promise<number> {
  const { caip2, sender } = target.chain;
  const due = await listDueSettlements(world.db, { chain: caip2, at: world.clock.now(), limit: DUE_MAX });
  if (due.length === 0 || !(await sender.isWithinFeeCeiling(world))) return 0;
  if (!(await hasReadSinceRewind(world, target.chain))) return 0;
  const groups = [...groupByBatchKey(sender, due)].map(([key, group]) => ({ key, group }));
  const lanes = Map.groupBy(groups, laneOf);
  return sumOutcomes(await Promise.allSettled([...lanes.values()].map((lane) => submitLane(world, target, lane))));
}

/** Providers that answer slowly about one token delay no other, and crossings delay no settlement. */
function laneOf({ group: [first] }: SettlementGroup): string {
  return first === undefined ? "" : `${isCrossing(first)}/${first.settlement.token}`;
}

/** Each crossing is a group of its own, and anybody can make hundreds of them due at once. Reached prices go first. */
async function submitLane(
  world: SubmitWorld,
  target: SubmitTarget,
  groups: readonly SettlementGroup[],
): Promise<number> {
  const next = groups
    .toSorted((one, other) => Number(isPaid(other)) - Number(isPaid(one)))
    .slice(0, GROUPS_MAX)
    .values();
  const submitNext = async () => {
    let submitted = 0;
    for (const each of next) submitted += await submitGroup(world, target, each);
    return submitted;
  };
  return sumOutcomes(await Promise.allSettled(Array.from({ length: CONCURRENT_GROUPS_MAX }, submitNext)));
}

function isPaid({ group }: SettlementGroup): boolean {
  return group.some(({ intent: { price_token_units: price, underpay_tolerance_bps: toleranceBps, counted_units } }) =>
    price === null ? false : isPriceReached(price, toleranceBps, counted_units),
  );
}

/** Throws the first failure once all have ended. */
function sumOutcomes(outcomes: readonly PromiseSettledResult<number>[]): number {
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return outcomes.reduce((sum, outcome) => sum + (outcome.status === "fulfilled" ? outcome.value : 0), 0);
}

/** A settlement without a key is submitted alone, and fails alone. So is one that a bridge carries. */
function groupByBatchKey(sender: ChainSender, due: readonly DueSettlement[]): Map<string, DueSettlement[]> {
  const own = due.filter((each) => !isCrossing(each));
  const keyOf =
    findBatchKeys(sender, own) ??
    findBatchKeys(
      sender,
      own.filter((each) => findBatchKeys(sender, [each])),
    );
  return Map.groupBy(due, (each) => keyOf?.get(each) ?? each.settlement.id);
}

/** Undefined where one of them has no key. */
function findBatchKeys(sender: ChainSender, due: readonly DueSettlement[]): Map<DueSettlement, string> | undefined {
  try {
    const keys = sender.batchKeys(due.map(toItem));
    return new Map(due.flatMap((each, index) => (keys[index] === undefined ? [] : [[each, keys[index]]])));
  } catch {
    return undefined;
  }
}

function toItem({ settlement, intent }: DueSettlement): SettleItem {
  return toSettleItem(intent, settlement.token);
}

type SettlementGroup = { key: string; group: readonly DueSettlement[] };

/** Submits the settlements of one batch key, batch by batch. */
async function submitGroup(world: SubmitWorld, target: SubmitTarget, { key, group }: SettlementGroup): Promise<number> {
  const { caip2 } = target.chain;
  const batchMax = findWatchedChain(world.catalog, caip2)?.settleBatchMax ?? 1;
  const failures = world.memory.get(FAILURES);
  let submitted = 0;
  for (let start = 0; start < group.length; start += batchMax) {
    const batch = group.slice(start, start + batchMax);
    try {
      submitted += await submitBatch(world, target, batch);
      failures.delete(`${caip2}/${key}`);
    } catch (error) {
      if (stopsAllWork(error)) throw error;
      const failed = (failures.get(`${caip2}/${key}`) ?? 0) + 1;
      failures.set(`${caip2}/${key}`, failed);
      await delayBatch(world, batch, {
        error,
        waitMs: backoffMs(failed - 1, BATCH_WAIT),
      });
    }
  }
  return submitted;
}

/**
 * The money stays in the inboxes, and their settlements keep their states: the attempt failed before the chain decided
 * on it.
 */
async function delayBatch(
  world: SubmitWorld,
  batch: readonly DueSettlement[],
  { error, waitMs }: { error: unknown; waitMs: number },
): Promise<void> {
  const ids = batch.map(({ settlement }) => settlement.id);
  warnRepeated(world, {
    key: `submit ${batch[0]?.settlement.chain} ${error instanceof Error ? error.message : String(error)}`,
    fields: { settlements: ids, err: error, waitMs },
    message: "settlements were not submitted; they are retried later",
  });
  await updateRetryAt(world.db, { ids, retryAt: addMs(world.clock.now(), waitMs) });
}

/**
 * When a whole batch is refused, or fails because of its rows, retries its halves, until only the failing settlement is
 * postponed.
 */
async function submitBatch(world: SubmitWorld, target: SubmitTarget, batch: readonly DueSettlement[]): Promise<number> {
  const submitted = await halveWhatFails(batch, {
    step: (half) => submitOnce(world, target, half),
    isCausedByItems: (error) => error instanceof SettleRefused || isCausedByData(error),
    onFailed: async (due, error) => {
      const isRefused = error instanceof SettleRefused;
      if (!isRefused)
        raiseAlarm(
          world.log,
          { alarm: "settlement_fails", settlement: due.settlement.id, err: error },
          "a settlement cannot be submitted",
        );
      const reason = isRefused ? refusalOf(due, error) : "internal_error";
      await postponeSettlements(world, target.chain.caip2, [{ due, reason }]);
    },
  });
  return submitted.reduce((sum, count) => sum + count, 0);
}

function refusalOf(due: DueSettlement, { message }: SettleRefused): string {
  return isCrossing(due) ? message : `settle_refused ${message}`;
}

/** Throws SettleRefused and changes nothing when the chain refuses the batch as a whole. */
async function submitOnce(world: SubmitWorld, target: SubmitTarget, batch: readonly DueSettlement[]): Promise<number> {
  const reasons = await findRefusals(world, target.chain, batch);
  const settleable = batch.filter((_, index) => reasons[index] === undefined);
  const prepared = settleable.length === 0 ? undefined : await prepareBatch(world, target.chain, settleable);
  const refused = batch.flatMap((due, index) => {
    const reason = reasons[index];
    return reason === undefined ? [] : [{ due, reason }];
  });
  await postponeSettlements(world, target.chain.caip2, refused);
  if (prepared === undefined || target.signal?.aborted === true) return 0;
  return storeBatch(world, settleable, prepared);
}

/** A settlement that a bridge carries is a batch of its own. */
function prepareBatch(
  world: SubmitWorld,
  chain: Chain,
  settleable: readonly DueSettlement[],
): Promise<PreparedSettlement | undefined> {
  const [first] = settleable;
  if (first !== undefined && isCrossing(first)) return prepareCrossing(world, chain, first);
  return chain.sender.prepare(world, settleable.map(toItem));
}

/** Why each item cannot be sent now; undefined where it can. Items with a balance disagreement are not simulated. */
async function findRefusals(
  world: SubmitWorld,
  chain: Chain,
  batch: readonly DueSettlement[],
): Promise<(string | undefined)[]> {
  const disagreements = await findBalanceDisagreements(world, chain, batch);
  if (disagreements.every((reason) => reason !== undefined)) return disagreements;
  // Preparing a crossing finds its refusal.
  if (batch.some(isCrossing)) return disagreements;
  const refusals = await chain.sender.refusals(batch.map(toItem));
  return batch.map((_, index) => disagreements[index] ?? refusals[index]);
}

type Refusal = { due: DueSettlement; reason: string };

async function postponeSettlements(world: SubmitWorld, chain: Caip2, refused: readonly Refusal[]): Promise<void> {
  if (refused.length === 0) return;
  const at = world.clock.now();
  const refusalOf = new Map(refused.map((refusal) => [refusal.due.settlement.id, refusal]));
  await world.db.transaction(async (tx) => {
    // An earlier sweep may have taken a deposit that counted since the planning.
    const intentIds = [...new Set(refused.map(({ due }) => due.intent.id))];
    await lockIntents(tx, intentIds);
    await assignToSweeps(tx, { chain, intentIds });
    const current = await lockSettlements(tx, [...refusalOf.keys()], ["planned", "held"]);
    const batch = refused.map(({ due }) => due);
    // What holds no counted money any more would be refused permanently.
    const emptyIds = await failEmptySettlements(tx, world, { batch, current, at });
    await changeSettlements(tx, world, {
      batch,
      current: current.filter(({ id }) => !emptyIds.has(id)),
      at,
      change: (before) => afterFailedAttempt(before, { reason: refusalOf.get(before.id)?.reason ?? "", at, addMs }),
    });
  });
  for (const { due, reason } of refused) {
    warnRepeated(world, {
      key: `refused ${due.settlement.id} ${reason}`,
      fields: { settlement: due.settlement.id, intent: due.intent.id, reason },
      message: "an inbox would not settle; it is retried later",
    });
  }
}

/** Stores the batch's transaction, unless another process has changed one of its settlements. */
async function storeBatch(
  world: SubmitWorld,
  batch: readonly DueSettlement[],
  prepared: PreparedSettlement,
): Promise<number> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    // What empty settlements leave in the holdings is computed under the intents' locks, as everywhere.
    await lockIntents(tx, [...new Set(batch.map(({ intent }) => intent.id))]);
    const ids = batch.map(({ settlement }) => settlement.id);
    const current = await lockSettlements(tx, ids, ["planned", "held"]);
    if (current.length !== batch.length) return 0;
    if ((await failEmptySettlements(tx, world, { batch, current, at })).size > 0) return 0;
    const outgoingId = await prepared.store(tx, at);
    await changeSettlements(tx, world, {
      batch,
      current,
      at,
      change: (before) => ({
        ...before,
        status: "submitted",
        reason: null,
        outgoing_id: outgoingId,
        submitted_at: at,
        updated_at: at,
      }),
    });
    return current.length;
  });
}

type LockedBatch = { batch: readonly DueSettlement[]; current: readonly SettlementRow[]; at: Date };

/**
 * Ends the settlements whose inboxes hold no counted money any more, after a reorg or a stranger's sweep. Returns their
 * ids.
 */
async function failEmptySettlements(
  tx: Tx,
  world: SubmitWorld,
  { batch, current, at }: LockedBatch,
): Promise<ReadonlySet<string>> {
  const emptyIds = await listEmptySettlements(
    tx,
    current.map(({ id }) => id),
  );
  const empty = current.filter(({ id }) => emptyIds.has(id));
  if (empty.length === 0) return emptyIds;
  await changeSettlements(tx, world, { batch, current: empty, at, change: (before) => failEmpty(before, at) });
  await refreshHoldings(
    tx,
    empty.map((settlement) => settlement.intent_id),
  );
  return emptyIds;
}

function failEmpty(settlement: Settlement, at: Date): Settlement {
  return { ...settlement, status: "failed", reason: "nothing_to_settle", retry_at: null, updated_at: at };
}

/** Writes locked settlements of a batch in their new states, with the events. */
async function changeSettlements(
  tx: Tx,
  world: SubmitWorld,
  input: {
    batch: readonly DueSettlement[];
    current: readonly SettlementRow[];
    at: Date;
    change: (before: SettlementRow) => Settlement;
  },
): Promise<void> {
  const intents = input.batch.map(({ intent }) => intent);
  const changes = new SettlementChanges(input.at, intents);
  for (const before of input.current) changes.add(before, input.change(before));
  await changes.writeSettlements(tx);
  await changes.appendEvents(tx, world);
}
