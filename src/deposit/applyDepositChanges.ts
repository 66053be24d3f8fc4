import { findAsset, findWatchedChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import type { EventType, NewEvent } from "../event/event.ts";
import { appendEvents } from "../event/store.ts";
import { changedFields } from "../event/changedFields.ts";
import { intentRecord } from "../intent/intentRecord.ts";
import { destinationKey, isDestinationTaken, writeIntentProgress, type IntentRow } from "../intent/store.ts";
import { findRoutes } from "../intent/routes/findRoutes.ts";
import { findPayoutWay } from "../intent/routes/payoutWay.ts";
import type { PinnedRoute } from "../intent/routes/routeSet.ts";
import type { World } from "../world.ts";
import { toPriceUnits, findOverSingleProviderLimit, type SingleProviderTotal } from "./agreement/agreement.ts";
import { countFinal } from "./countFinal.ts";
import { isReceived, toPayoutUnits, type Deposit } from "./deposit.ts";
import { selectFinality, requiredConfirmations, type ChainHead, type Exposure } from "./finality.ts";
import { intentEventTypes, computeIntentProgress, type DepositChange } from "./computeIntentProgress.ts";
import { depositRecord } from "./depositRecord.ts";
import { countWaitingDust, type Holding, type HoldingChange } from "./dust/dust.ts";
import { buildDustEvents, type DustEvent } from "./dust/dustEvents.ts";
import { canCountDust, dustTotals } from "./dust/dustAgreement.ts";
import { refreshHoldings, writeHoldings } from "./dust/dustStore.ts";
import { listSingleProviderTotals, writeDeposits } from "./store.ts";
import { insertVerifications } from "./agreement/verificationStore.ts";
import { isIntentPriceReached } from "./countFinal.ts";
import { lastFinalBlock } from "../watch/finality.ts";

export type DepositWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "catalog" | "log" | "memory">;

/** One locked intent, with its deposits before and after their movements were applied. */
export type IntentChangeSet = {
  intent: IntentRow;
  changes: readonly DepositChange[];
  /** What each of the intent's inboxes holds. */
  holdings: readonly HoldingChange[];
  /** Whether the intent has unprocessed movements. Then no deposit is counted, because one of them may be orphaned. */
  hasPendingMovements: boolean;
};

type IntentUpdate = {
  before: IntentRow;
  after: IntentRow;
  changes: readonly DepositChange[];
  holdings: readonly HoldingChange[];
};
type RecountResult = {
  changes: readonly DepositChange[];
  holdings: readonly HoldingChange[];
  /** Deposits that would count if enough providers had confirmed them. */
  toVerify: Deposit[];
};

/** Counts final deposits, and writes the changed deposits and intents with their events. The caller holds the locks of the intents. */
export async function applyDepositChanges(
  tx: Tx,
  world: DepositWorld,
  input: { cases: readonly IntentChangeSet[]; heads: ReadonlyMap<string, ChainHead>; at: Date },
): Promise<void> {
  const updates: IntentUpdate[] = [];
  const toVerify: Deposit[] = [];
  const reopened = new Set<string>();
  const counted = await loadSingleProviderTotals(tx, world, input.cases);
  const routesOf = await findRoutes(
    { db: tx, memory: world.memory },
    input.cases.map(({ intent }) => intent),
  );
  for (const each of input.cases) {
    const { intent: before } = each;
    const recounted = recountIntent(world, each, { ...input, counted, routes: routesOf.get(before.id) ?? [] });
    const { changes, holdings } = recounted;
    toVerify.push(...recounted.toVerify);
    if (changes.length === 0 && holdings.length === 0) continue;
    // One batch may reopen several intents of a destination, and the database does not show the first one yet.
    const mayReopen = before.status === "settled" && before.occupies;
    const isTaken = mayReopen && (reopened.has(destinationKey(before)) || (await isDestinationTaken(tx, before)));
    const after = computeIntentProgress(before, recounted, { isDestinationTaken: isTaken, at: input.at });
    if (mayReopen && after.status === "active") reopened.add(destinationKey(before));
    updates.push({ before, after, changes, holdings });
  }
  await writeDeposits(
    tx,
    updates.flatMap(({ changes }) => changes.map((change) => change.after)),
  );
  await insertVerifications(tx, { deposits: toVerify, at: input.at });
  const changedHoldings = updates.flatMap(({ holdings }) => holdings);
  await writeHoldings(
    tx,
    changedHoldings.map(({ after }) => after),
  );
  await writeIntentProgress(
    tx,
    updates.map(({ after }) => after),
  );
  const hasCounted = ({ before, after, changes }: IntentUpdate) =>
    before.counted_units !== after.counted_units || changes.some((change) => change.before?.status === "counted");
  await refreshHoldings(
    tx,
    updates.filter(hasCounted).map(({ after }) => after.id),
  );
  const dustEvents = await buildDustEvents(tx, world, { updates, heads: input.heads });
  const events = updates.flatMap((each) => buildEvents(world, each, { ...input, dustEvents }));
  await appendEvents(tx, world, { events, at: input.at });
}

/** Reads the totals only when a chain has a limit above 0; at 0 every deposit needs agreement. */
async function loadSingleProviderTotals(
  tx: Tx,
  world: DepositWorld,
  cases: readonly IntentChangeSet[],
): Promise<SingleProviderTotal[]> {
  const isLimited = world.catalog.chains.some((chain) => (chain.agreement?.abovePriceUnits ?? 0n) > 0n);
  if (!isLimited) return [];
  return listSingleProviderTotals(
    tx,
    cases.map((each) => each.intent.id),
  );
}

type RecountContext = {
  heads: ReadonlyMap<string, ChainHead>;
  counted: readonly SingleProviderTotal[];
  routes: readonly PinnedRoute[];
  at: Date;
};

/** Counts an intent's deposits again, and returns only the changes that differ from the database. */
function recountIntent(
  world: DepositWorld,
  { intent, changes, holdings, hasPendingMovements }: IntentChangeSet,
  context: RecountContext,
): RecountResult {
  if (hasPendingMovements)
    return { changes: changes.filter((change) => change.before !== change.after), holdings: [], toVerify: [] };
  // Dropped deposits leave the counted total before the others are decided.
  const progressed = computeIntentProgress(intent, { changes, holdings }, { isDestinationTaken: true, at: context.at });
  const waitingDustUnits = holdings.reduce((sum, { after }) => sum + after.waiting_units, 0n);
  const deposits = changes.map((change) => change.after);
  const rules = resolveFinalityRules(world, { deposits, heads: context.heads });
  const finalBlocks = new Map([...rules].map(([chain, rule]) => [chain, rule.finalBlock]));
  const minimumOf = (deposit: Deposit) => findPayoutWay(intent, context.routes, deposit)?.minimumUnits ?? 0n;
  const rule = { finalBlocks, waitingDustUnits, minimumOf, at: context.at };
  const countedIfVerified = countFinal(progressed, deposits, { ...rule, unverified: NO_IDS });
  const agreementOf = (chain: string) => findWatchedChain(world.catalog, chain)?.agreement;
  const counted = [...context.counted.filter((each) => each.intentId === intent.id), ...dustTotals(intent, holdings)];
  const overLimitIds = findOverSingleProviderLimit(changes, { counted, agreementOf });
  const toVerify = countedIfVerified.filter((deposit) => deposit.status === "counted" && overLimitIds.has(deposit.id));
  const unverifiedIds = new Set(toVerify.map((deposit) => deposit.id));
  const finalDeposits =
    toVerify.length === 0
      ? countedIfVerified
      : countFinal(progressed, deposits, { ...rule, unverified: unverifiedIds });
  const decided = changes.map((change, index) => ({
    before: change.before,
    after: applyFinalityRule(finalDeposits[index] ?? change.after, rules),
  }));
  const reachedUnits = sumReached(
    computeIntentProgress(intent, { changes: decided, holdings }, { isDestinationTaken: true, at: context.at }),
    decided,
  );
  const isPaid = isIntentPriceReached(intent, reachedUnits + waitingDustUnits);
  return {
    toVerify,
    changes: decided.filter((change) => change.before !== change.after),
    holdings: holdings
      .map(({ before, after }) => ({
        before,
        after: isPaid ? countDustIfAllowed(world, { intent, holding: after, counted, at: context.at }) : after,
      }))
      .filter(({ before, after }) => before !== after),
  };
}

/** Counted, and final but waiting. */
function sumReached(intent: IntentRow, changes: readonly DepositChange[]): bigint {
  const waiting = changes.filter(({ after }) => after.status === "confirmed");
  return waiting.reduce((sum, { after }) => sum + toPayoutUnits(after, intent), intent.counted_units);
}

function countDustIfAllowed(
  world: DepositWorld,
  {
    intent,
    holding,
    counted,
    at,
  }: {
    intent: IntentRow;
    holding: Holding;
    counted: readonly SingleProviderTotal[];
    at: Date;
  },
): Holding {
  if (holding.waiting_count === 0n) return holding;
  const agreement = findWatchedChain(world.catalog, holding.chain)?.agreement;
  if (canCountDust(holding, { intent, agreement, counted })) return countWaitingDust(holding, at);
  return { ...holding, verify_from: holding.verify_from ?? at };
}

const NO_IDS: ReadonlySet<string> = new Set();

type FinalityRule = { finalBlock: bigint; requiredConfirmations: number | null };

/** The finality rule of one intent on each chain. A larger sum of deposits requires a stronger rule. */
function resolveFinalityRules(
  world: DepositWorld,
  input: { deposits: readonly Deposit[]; heads: ReadonlyMap<string, ChainHead> },
): ReadonlyMap<string, FinalityRule> {
  const rules = new Map<string, FinalityRule>();
  for (const [chain, deposits] of Map.groupBy(input.deposits.filter(isReceived), (deposit) => deposit.chain)) {
    const head = input.heads.get(chain);
    const finality =
      head && selectFinality(findWatchedChain(world.catalog, chain)?.finality ?? [], head, deposits.map(toExposure));
    if (!head || !finality) continue;
    rules.set(chain, {
      finalBlock: lastFinalBlock(finality, head),
      requiredConfirmations: requiredConfirmations(finality),
    });
  }
  return rules;
}

/** Updates the required confirmations of a deposit that is not final: later deposits may raise the tier. */
function applyFinalityRule(deposit: Deposit, rules: ReadonlyMap<string, FinalityRule>): Deposit {
  const rule = rules.get(deposit.chain);
  if (deposit.status !== "seen" || rule === undefined) return deposit;
  if (deposit.required_confirmations === rule.requiredConfirmations) return deposit;
  return { ...deposit, required_confirmations: rule.requiredConfirmations };
}

export function toExposure(deposit: Deposit): Exposure {
  return { blockNumber: deposit.block_number, priceUnits: toPriceUnits(deposit) };
}

function buildEvents(
  world: DepositWorld,
  { before, after, changes }: IntentUpdate,
  {
    heads,
    dustEvents,
  }: { heads: ReadonlyMap<string, ChainHead>; dustEvents: ReadonlyMap<string, readonly DustEvent[]> },
): NewEvent[] {
  const eventBase = {
    accountId: after.account_id,
    intentId: after.id,
    merchantReference: after.merchant_reference,
    livemode: after.livemode,
  };
  const depositEvents = changes.flatMap((change) => {
    const object = toDepositRecord(world, change.after, heads);
    const previous =
      change.before === undefined ? null : changedFields(toDepositRecord(world, change.before, heads), object);
    return depositEventTypes(change).map((type) => ({ ...eventBase, type, object, previous }));
  });
  const context = { baseUrl: world.config.baseUrl };
  const object = intentRecord(after, context);
  const previous = changedFields(intentRecord(before, context), object);
  return [
    ...depositEvents,
    ...(dustEvents.get(after.id) ?? []).map((each) => ({ ...eventBase, ...each, previous: null })),
    ...intentEventTypes(before, after).map((type) => ({ ...eventBase, type, object, previous })),
  ];
}

function toDepositRecord(
  world: DepositWorld,
  deposit: Deposit,
  heads: ReadonlyMap<string, ChainHead>,
): ReturnType<typeof depositRecord> {
  const symbol = findAsset(world.catalog, deposit.chain, deposit.token)?.symbol ?? deposit.token;
  return depositRecord(deposit, { symbol, headNumber: heads.get(deposit.chain)?.number ?? deposit.block_number });
}

/** The events between two states of a deposit, each once. A deposit that is final at once still emits every step. */
function depositEventTypes({ before, after }: DepositChange): EventType[] {
  const types: EventType[] = [];
  const isNewlySeen = before === undefined || before.status === "dropped" || before.block_hash !== after.block_hash;
  if (isNewlySeen && after.status !== "dropped") types.push("deposit.seen");
  if (after.confirmed_at !== null && (isNewlySeen || before.confirmed_at === null)) types.push("deposit.confirmed");
  if (after.counted_at !== null && (isNewlySeen || before.counted_at === null)) types.push("deposit.counted");
  if (after.status === "held" && (isNewlySeen || before.status !== "held")) types.push("deposit.held");
  if (after.status === "dropped" && before?.status !== "dropped") types.push("deposit.dropped");
  return types;
}
