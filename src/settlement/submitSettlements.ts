import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { CallReverted, ProviderFailed, type ChainDriver } from "../chain/driver.ts";
import { quoteCall, signAndStore, type CallQuote } from "../chain/evm/send/signAndStore.ts";
import type { Tx } from "../db/database.ts";
import { appendEvents } from "../event/store.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { findBalanceDisagreements } from "./findBalanceDisagreements.ts";
import { settlementEvents } from "./settlementEvents.ts";
import { decodeFailures, settleCall, settleManyCall } from "./settleCall.ts";
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
  driver: ChainDriver;
  /** Once it has aborted no further nonce is taken: whoever ends leaves no new work behind. */
  signal?: AbortSignal | undefined;
};

/** Settlements looked at in one call. */
const DUE_MAX = 500;

/**
 * Sends what is planned on a chain: asks the chain whether each inbox would settle, stores signed bytes for those that would,
 * and puts the others off. Broadcasting is left to whoever tends the chain's sendings. Returns how many were submitted.
 */
export async function submitSettlements(world: SubmitWorld, target: SubmitTarget): Promise<number> {
  const chain = target.chain.caip2;
  const due = await listDueSettlements(world.db, { chain, at: world.clock.now(), limit: DUE_MAX });
  const batchMax = findWatchedChain(world.catalog, chain)?.settleBatchMax ?? 1;
  let submitted = 0;
  for (const batch of splitIntoBatches(due, batchMax)) submitted += await submitBatch(world, target, batch);
  return submitted;
}

/** One batch has one hub and one token, so that its transaction costs what such a transaction is expected to cost. */
function splitIntoBatches(due: readonly DueSettlement[], batchMax: number): DueSettlement[][] {
  const groups = Map.groupBy(due, ({ settlement, intent }) => `${intent.inbox_hub}/${settlement.token}`);
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / batchMax) }, (_, index) =>
      group.slice(index * batchMax, (index + 1) * batchMax),
    ),
  );
}

/** What the chain refuses as a whole is tried in halves, until only the one is put off whose fault it is. */
async function submitBatch(world: SubmitWorld, target: SubmitTarget, batch: readonly DueSettlement[]): Promise<number> {
  try {
    return await submitOnce(world, target, batch);
  } catch (error) {
    if (!(error instanceof CallReverted)) throw error;
    const [only, ...others] = batch;
    if (only && others.length === 0) await postponeSettlement(world, only, `settle_refused ${error.message}`);
    if (others.length === 0) return 0;
    const middle = Math.ceil(batch.length / 2);
    const first = await submitBatch(world, target, batch.slice(0, middle));
    return first + (await submitBatch(world, target, batch.slice(middle)));
  }
}

/** Throws CallReverted, with nothing done, when the chain refuses the batch as a whole. */
async function submitOnce(world: SubmitWorld, target: SubmitTarget, batch: readonly DueSettlement[]): Promise<number> {
  const failures = await findRefusals(world, target, batch);
  const settleable = batch.filter((_, index) => failures[index] === undefined);
  const call = settleCall(
    batch[0]?.intent.inbox_hub ?? "",
    settleable.map(({ intent }) => intent),
  );
  const quote = settleable.length === 0 ? undefined : await quoteCall(world, { ...target, call });
  for (const [index, due] of batch.entries()) {
    const reason = failures[index];
    if (reason !== undefined) await postponeSettlement(world, due, reason);
  }
  if (quote === undefined || target.signal?.aborted === true) return 0;
  return saveSignedBatch(world, { chain: target.chain, batch: settleable, call, quote });
}

/** Why each item cannot be sent now; undefined where it can. What providers do not agree on is not even tried out. */
async function findRefusals(
  world: SubmitWorld,
  target: SubmitTarget,
  batch: readonly DueSettlement[],
): Promise<(string | undefined)[]> {
  const disagreements = await findBalanceDisagreements(world, target.chain, batch);
  if (disagreements.every((reason) => reason !== undefined)) return disagreements;
  const failures = await simulateWithSecondProvider(target, batch);
  return batch.map((_, index) => disagreements[index] ?? failures[index]);
}

/**
 * A refusal by one provider alone is no reason to hold money back: the gas of a try is cheaper than being held up by a lie. Where there is
 * another provider it is asked as well, and both must refuse.
 */
async function simulateWithSecondProvider(
  { chain, driver }: SubmitTarget,
  batch: readonly DueSettlement[],
): Promise<(string | undefined)[]> {
  const hasSingleProvider = chain.providers.providerCount < 2;
  let first: (string | undefined)[] | undefined;
  try {
    first = await simulateBatch(driver, batch);
  } catch (error) {
    const isAnswer = error instanceof CallReverted || error instanceof ProviderFailed;
    if (!isAnswer || hasSingleProvider) throw error;
  }
  if (first && (hasSingleProvider || first.every((reason) => reason === undefined))) return first;
  const second = await chain.providers.askInReverseOrder((other) => simulateBatch(other, batch));
  return first === undefined
    ? second
    : first.map((reason, index) => (second[index] === undefined ? undefined : reason));
}

/** Why each item would not settle now; undefined where it would. */
async function simulateBatch(driver: ChainDriver, batch: readonly DueSettlement[]): Promise<(string | undefined)[]> {
  const hub = batch[0]?.intent.inbox_hub ?? "";
  if (!(await driver.hasCode(hub))) return batch.map(() => "hub_missing");
  const intents = batch.map(({ intent }) => intent);
  const result = await driver.call(settleManyCall(hub, intents));
  return decodeFailures(result).map((name) => (name === undefined ? undefined : `settle_refused ${name}`));
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
    "an inbox would not settle; it is tried again later",
  );
}

type SignedBatch = {
  chain: Chain;
  batch: readonly DueSettlement[];
  call: ReturnType<typeof settleCall>;
  quote: CallQuote;
};

/** Gives the batch its transaction, unless somebody else was quicker with any of its settlements. */
async function saveSignedBatch(world: SubmitWorld, { chain, batch, call, quote }: SignedBatch): Promise<number> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const ids = batch.map(({ settlement }) => settlement.id);
    const current = await lockSettlements(tx, ids, ["planned", "held"]);
    if (current.length !== batch.length) return 0;
    const idle = await findEmptySettlements(tx, current);
    for (const settlement of idle) await failEmptySettlement(tx, world, { batch, settlement, at });
    if (idle.length > 0) return 0;
    const outgoingTransactionId = await signAndStore(tx, chain, { call, quote, at });
    for (const before of current) {
      const after: Settlement = {
        ...before,
        status: "submitted",
        reason: null,
        sending_id: outgoingTransactionId,
        submitted_at: at,
        updated_at: at,
      };
      await writeSettlement(tx, after);
      await appendEvents(tx, world, { events: buildEvents(batch, before, after), at });
    }
    return current.length;
  });
}

/** Settlements whose inbox no longer holds anything counted, since a reorg or a stranger took it. */
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
