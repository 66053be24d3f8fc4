import { findAsset, findWatchedChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import type { EventType, NewEvent } from "../event/event.ts";
import { appendEvents } from "../event/store.ts";
import { changedFields } from "../event/changedFields.ts";
import { intentRecord } from "../intent/intentRecord.ts";
import { destinationKey, isDestinationTaken, writeIntentProgress, type IntentRow } from "../intent/store.ts";
import type { World } from "../world.ts";
import { toPriceUnits, findOverSingleProviderLimit, type SingleProviderTotal } from "./agreement.ts";
import { countFinal } from "./countFinal.ts";
import { isReceived, type Deposit } from "./deposit.ts";
import { selectFinality, requiredConfirmations, type ChainHead, type Exposure } from "./finality.ts";
import { intentEventTypes, computeIntentProgress, type DepositChange } from "./computeIntentProgress.ts";
import { depositRecord } from "./depositRecord.ts";
import { insertVerifications, listSingleProviderTotals, writeDeposits } from "./store.ts";
import { lastFinalBlock } from "../watch/finality.ts";

export type DepositWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "catalog" | "log">;

/** One locked intent, with its deposits before and after their movements were applied. */
export type IntentChangeSet = {
  intent: IntentRow;
  changes: readonly DepositChange[];
  /** Whether the intent has unprocessed movements. Then no deposit is counted, because one of them may be orphaned. */
  hasPendingMovements: boolean;
};

type IntentUpdate = { before: IntentRow; after: IntentRow; changes: DepositChange[] };
type RecountResult = {
  changes: DepositChange[];
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
  for (const each of input.cases) {
    const { intent: before } = each;
    const recounted = recountIntent(world, each, { ...input, counted });
    const { changes } = recounted;
    toVerify.push(...recounted.toVerify);
    if (changes.length === 0) continue;
    // One batch may reopen several intents of a destination, and the database does not show the first one yet.
    const mayReopen = before.status === "settled" && before.occupies;
    const isTaken = mayReopen && (reopened.has(destinationKey(before)) || (await isDestinationTaken(tx, before)));
    const after = computeIntentProgress(before, changes, { isDestinationTaken: isTaken, at: input.at });
    if (mayReopen && after.status === "active") reopened.add(destinationKey(before));
    updates.push({ before, after, changes });
  }
  await writeDeposits(
    tx,
    updates.flatMap(({ changes }) => changes.map((change) => change.after)),
  );
  await insertVerifications(tx, { deposits: toVerify, at: input.at });
  await writeIntentProgress(
    tx,
    updates.map(({ after }) => after),
  );
  const events = updates.flatMap((each) => buildEvents(world, each, input.heads));
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

type RecountContext = { heads: ReadonlyMap<string, ChainHead>; counted: readonly SingleProviderTotal[]; at: Date };

/** Counts an intent's deposits again, and returns only the changes that differ from the database. */
function recountIntent(
  world: DepositWorld,
  { intent, changes, hasPendingMovements }: IntentChangeSet,
  context: RecountContext,
): RecountResult {
  if (hasPendingMovements) return { changes: changes.filter((change) => change.before !== change.after), toVerify: [] };
  // Dropped deposits leave the counted total before the others are decided.
  const progressed = computeIntentProgress(intent, changes, { isDestinationTaken: true, at: context.at });
  const deposits = changes.map((change) => change.after);
  const rules = resolveFinalityRules(world, { deposits, heads: context.heads });
  const finalBlocks = new Map([...rules].map(([chain, rule]) => [chain, rule.finalBlock]));
  const countedIfVerified = countFinal(progressed, deposits, { finalBlocks, unverified: NO_IDS, at: context.at });
  const agreementOf = (chain: string) => findWatchedChain(world.catalog, chain)?.agreement;
  const counted = context.counted.filter((each) => each.intentId === intent.id);
  const overLimitIds = findOverSingleProviderLimit(changes, { counted, agreementOf });
  const toVerify = countedIfVerified.filter((deposit) => deposit.status === "counted" && overLimitIds.has(deposit.id));
  const unverifiedIds = new Set(toVerify.map((deposit) => deposit.id));
  const finalDeposits =
    toVerify.length === 0
      ? countedIfVerified
      : countFinal(progressed, deposits, { finalBlocks, unverified: unverifiedIds, at: context.at });
  return {
    toVerify,
    changes: changes
      .map((change, index) => ({
        before: change.before,
        after: applyFinalityRule(finalDeposits[index] ?? change.after, rules),
      }))
      .filter((change) => change.before !== change.after),
  };
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
  heads: ReadonlyMap<string, ChainHead>,
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
