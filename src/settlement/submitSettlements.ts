import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { SettleRefused, type ChainSender, type PreparedSettlement, type SettleItem } from "../chain/sender.ts";
import type { Tx } from "../db/database.ts";
import { refreshHoldings } from "../deposit/dust/dustStore.ts";
import { appendEvents } from "../event/store.ts";
import { toInboxTerms } from "../intent/inboxTerms.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { findBalanceDisagreements } from "./findBalanceDisagreements.ts";
import { settlementEvents } from "./settlementEvents.ts";
import { afterFailedAttempt, type Settlement } from "./settlement.ts";
import {
  lockSettlements,
  hasUnsweptDeposits,
  listDueSettlements,
  writeSettlement,
  type DueSettlement,
} from "./store.ts";

export type SubmitWorld = Pick<World, "db" | "clock" | "entropy" | "catalog" | "log">;
type SubmitTarget = {
  chain: Chain;
  /** Once it aborts, nothing more is signed, so a stopping process leaves no new work. */
  signal?: AbortSignal | undefined;
};

/** Settlements reviewed per call. */
const DUE_MAX = 500;

/**
 * Submits a chain's planned settlements: asks the chain which inboxes would settle, stores signed bytes for those and postpones the others.
 * The chain's sender broadcasts them later. Returns the number submitted.
 */
export async function submitSettlements(world: SubmitWorld, target: SubmitTarget): Promise<number> {
  const { caip2, sender } = target.chain;
  const due = await listDueSettlements(world.db, { chain: caip2, at: world.clock.now(), limit: DUE_MAX });
  const batchMax = findWatchedChain(world.catalog, caip2)?.settleBatchMax ?? 1;
  let submitted = 0;
  for (const batch of splitIntoBatches(sender, due, batchMax)) submitted += await submitBatch(world, target, batch);
  return submitted;
}

function splitIntoBatches(sender: ChainSender, due: readonly DueSettlement[], batchMax: number): DueSettlement[][] {
  const groups = Map.groupBy(due, (each) => sender.batchKey(toSettleItem(each)));
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / batchMax) }, (_, index) =>
      group.slice(index * batchMax, (index + 1) * batchMax),
    ),
  );
}

function toSettleItem({ settlement, intent }: DueSettlement): SettleItem {
  const { inbox_address: inbox, inbox_hub: hub } = intent;
  return { inbox, token: settlement.token, hub, terms: toInboxTerms(intent) };
}

/** When the chain refuses a whole batch, retries its halves, until only the failing settlement is postponed. */
async function submitBatch(world: SubmitWorld, target: SubmitTarget, batch: readonly DueSettlement[]): Promise<number> {
  try {
    return await submitOnce(world, target, batch);
  } catch (error) {
    if (!(error instanceof SettleRefused)) throw error;
    const [only, ...others] = batch;
    if (only && others.length === 0) await postponeSettlement(world, only, `settle_refused ${error.message}`);
    if (others.length === 0) return 0;
    const middle = Math.ceil(batch.length / 2);
    const first = await submitBatch(world, target, batch.slice(0, middle));
    return first + (await submitBatch(world, target, batch.slice(middle)));
  }
}

/** Throws SettleRefused and changes nothing when the chain refuses the batch as a whole. */
async function submitOnce(world: SubmitWorld, target: SubmitTarget, batch: readonly DueSettlement[]): Promise<number> {
  const reasons = await findRefusals(world, target.chain, batch);
  const settleable = batch.filter((_, index) => reasons[index] === undefined);
  const prepared =
    settleable.length === 0 ? undefined : await target.chain.sender.prepare(world, settleable.map(toSettleItem));
  for (const [index, due] of batch.entries()) {
    const reason = reasons[index];
    if (reason !== undefined) await postponeSettlement(world, due, reason);
  }
  if (prepared === undefined || target.signal?.aborted === true) return 0;
  return storeBatch(world, settleable, prepared);
}

/** Why each item cannot be sent now; undefined where it can. Items with a balance disagreement are not simulated. */
async function findRefusals(
  world: SubmitWorld,
  chain: Chain,
  batch: readonly DueSettlement[],
): Promise<(string | undefined)[]> {
  const disagreements = await findBalanceDisagreements(world, chain, batch);
  if (disagreements.every((reason) => reason !== undefined)) return disagreements;
  const refusals = await chain.sender.refusals(batch.map(toSettleItem));
  return batch.map((_, index) => disagreements[index] ?? refusals[index]);
}

async function postponeSettlement(
  world: SubmitWorld,
  { settlement, intent }: DueSettlement,
  reason: string,
): Promise<void> {
  const at = world.clock.now();
  await world.db.transaction(async (tx) => {
    const [current] = await lockSettlements(tx, [settlement.id], ["planned", "held"]);
    if (current === undefined) return;
    const after = afterFailedAttempt(current, { reason, at, addMs });
    await writeSettlement(tx, after);
    await appendEvents(tx, world, { events: settlementEvents(intent, current, after), at });
  });
  world.log.warn(
    { settlement: settlement.id, intent: intent.id, reason },
    "an inbox would not settle; it is retried later",
  );
}

/** Stores the batch's transaction, unless another process has changed one of its settlements. */
async function storeBatch(
  world: SubmitWorld,
  batch: readonly DueSettlement[],
  prepared: PreparedSettlement,
): Promise<number> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const ids = batch.map(({ settlement }) => settlement.id);
    const current = await lockSettlements(tx, ids, ["planned", "held"]);
    if (current.length !== batch.length) return 0;
    const idle = await findEmptySettlements(tx, current);
    for (const settlement of idle) await failEmptySettlement(tx, world, { batch, settlement, at });
    if (idle.length > 0) return 0;
    const outgoingId = await prepared.store(tx, at);
    for (const before of current) {
      const after: Settlement = {
        ...before,
        status: "submitted",
        reason: null,
        outgoing_id: outgoingId,
        submitted_at: at,
        updated_at: at,
      };
      await writeSettlement(tx, after);
      await appendEvents(tx, world, { events: buildEvents(batch, before, after), at });
    }
    return current.length;
  });
}

/** Settlements whose inbox holds no counted money any more, after a reorg or a stranger's sweep. */
async function findEmptySettlements(tx: Tx, settlements: readonly Settlement[]): Promise<Settlement[]> {
  const empty: Settlement[] = [];
  for (const settlement of settlements) if (!(await hasUnsweptDeposits(tx, settlement))) empty.push(settlement);
  return empty;
}

async function failEmptySettlement(
  tx: Tx,
  world: SubmitWorld,
  { batch, settlement, at }: { batch: readonly DueSettlement[]; settlement: Settlement; at: Date },
): Promise<void> {
  const after: Settlement = {
    ...settlement,
    status: "failed",
    reason: "nothing_to_settle",
    retry_at: null,
    updated_at: at,
  };
  await writeSettlement(tx, after);
  await refreshHoldings(tx, [settlement.intent_id]);
  await appendEvents(tx, world, { events: buildEvents(batch, settlement, after), at });
}

function buildEvents(
  batch: readonly DueSettlement[],
  before: Settlement,
  after: Settlement,
): ReturnType<typeof settlementEvents> {
  const due = batch.find(({ settlement }) => settlement.id === after.id);
  return due ? settlementEvents(due.intent, before, after) : [];
}
