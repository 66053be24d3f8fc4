import type { EventType } from "../../event/event.ts";
import { findPayoutPath } from "../../intent/routes/payoutPath.ts";
import type { IntentRow } from "../../intent/store.ts";
import { findOverSingleProviderLimit } from "../agreement/agreement.ts";
import { computeIntentProgress, intentEventTypes } from "./computeIntentProgress.ts";
import type { DepositChange } from "../deposit.ts";
import { toPayoutUnits, type Deposit } from "../deposit.ts";
import { countWaitingDust, type Holding, type HoldingChange } from "../holding/dust.ts";
import { canCountDust, dustTotals } from "./dustAgreement.ts";
import { confirmOrReturn, countFinal, isPriceDeliverable, type CountContext } from "./countFinal.ts";
import type { IntentFacts } from "./facts.ts";
import { resolveFinality, type ChainFinality } from "./exposure.ts";

// The one decision about the money of an intent: which deposits are final, by which rule, what counts, and whether the
// price is reached.

/** An event, and the change that it shows. */
export type DecidedEvent =
  | { type: EventType; deposit: DepositChange }
  | { type: EventType; holding: HoldingChange }
  | { type: EventType };

export type Decision = {
  /** The intent with its new status and totals; the same object when nothing changed. */
  after: IntentRow;
  /** Only the deposits that differ from the database. */
  deposits: readonly DepositChange[];
  /** Only the holdings that differ from the database. */
  holdings: readonly HoldingChange[];
  /** Deposits that would count if enough providers had confirmed them. */
  toVerify: readonly Deposit[];
  /** In the order in which they are appended. */
  events: readonly DecidedEvent[];
};

/**
 * Decides a locked intent with the facts of all its chains. On a chain that is behind, nothing becomes final or counts,
 * nothing helps to reach the price, and what is there still makes the rules of the other chains stricter. What counted
 * there stays counted.
 */
export function decideIntent(intent: IntentRow, facts: IntentFacts): Decision {
  const finality = resolveFinality(facts);
  const { deposits: decided, toVerify } = decideDeposits(intent, facts, finality);
  const holdings = decideHoldings(intent, facts, decided).filter(({ before, after }) => before !== after);
  const deposits = decided.filter(({ before, after }) => before !== after);
  if (deposits.length === 0 && holdings.length === 0)
    return { after: intent, deposits, holdings, toVerify, events: [] };
  const after = computeIntentProgress(intent, { changes: deposits, holdings }, facts);
  return { after, deposits, holdings, toVerify, events: listEvents(intent, { after, deposits, holdings }) };
}

type FinalityOf = ReadonlyMap<string, ChainFinality>;

function decideDeposits(
  intent: IntentRow,
  facts: IntentFacts,
  finalityOf: FinalityOf,
): { deposits: DepositChange[]; toVerify: Deposit[] } {
  const { at } = facts;
  // Dropped deposits leave the counted total before the others are decided.
  const progressed = progressOf(intent, facts, facts.deposits);
  const movable = facts.deposits.filter(({ after }) => !facts.isBehind(after.chain));
  const finalBlocks = new Map([...finalityOf].map(([chain, { finalBlock }]) => [chain, finalBlock]));
  const current = movable.map(({ after }) => confirmOrReturn(after, finalBlocks, at));
  const context: Omit<CountContext, "unverified"> = {
    finalBlocks,
    waitingDustUnits: waitingDust(facts),
    minimumOf: (deposit) => findPayoutPath(intent, facts.routes, deposit)?.minimumUnits ?? 0n,
    at,
  };
  const countedIfVerified = countFinal(progressed, current, { ...context, unverified: new Set() });
  const overLimitIds = findOverSingleProviderLimit(facts.deposits, {
    counted: [...facts.singleProviderTotals, ...dustTotals(intent, facts.holdings)],
    agreementOf: (chain) => facts.chains.get(chain)?.agreement,
  });
  const toVerify = countedIfVerified.filter((deposit) => deposit.status === "counted" && overLimitIds.has(deposit.id));
  const unverified = new Set(toVerify.map((deposit) => deposit.id));
  const final = toVerify.length === 0 ? countedIfVerified : countFinal(progressed, current, { ...context, unverified });
  const moved = new Map(final.map((deposit) => [deposit.movement_id, deposit]));
  const deposits = facts.deposits.map(({ before, after }) => {
    const deposit = moved.get(after.movement_id);
    return { before, after: deposit === undefined ? after : withRule(deposit, before, { finalityOf, facts }) };
  });
  return { deposits, toVerify };
}

/** The intent once these deposits are written, apart from its status. */
function progressOf(intent: IntentRow, facts: IntentFacts, changes: readonly DepositChange[]): IntentRow {
  const { holdings, at } = facts;
  return computeIntentProgress(intent, { changes, holdings }, { isDestinationTaken: true, at });
}

/** The rule by which a deposit counts now, else what it still requires. */
function withRule(
  deposit: Deposit,
  before: Deposit | undefined,
  { finalityOf, facts }: { finalityOf: FinalityOf; facts: IntentFacts },
): Deposit {
  if (deposit.status !== "counted" || before?.counted_at === deposit.counted_at)
    return withRequirement(deposit, finalityOf);
  const { finalBlock = -1n, nextFinalBlock = null, limitUnits = null } = finalityOf.get(deposit.chain) ?? {};
  return {
    ...deposit,
    counted_final_block: finalBlock,
    counted_next_block: nextFinalBlock,
    counted_limit_units: limitUnits,
    counted_elsewhere: limitUnits === null ? null : finalElsewhere(facts, deposit.chain),
  };
}

/** What is final by the strictest rule of each other chain, in the form that a deposit stores. */
function finalElsewhere({ chains }: IntentFacts, chain: string): string | null {
  const others = [...chains].filter(([other]) => other !== chain);
  if (others.length === 0) return null;
  return JSON.stringify(
    Object.fromEntries(others.map(([other, { lowestFinalBlock }]) => [other, String(lowestFinalBlock)])),
  );
}

/**
 * Updates what a deposit that is not final still requires: later deposits may raise the tier, also those of other
 * chains.
 */
function withRequirement(deposit: Deposit, finalityOf: FinalityOf): Deposit {
  const rule = finalityOf.get(deposit.chain);
  if (deposit.status !== "seen" || rule === undefined) return deposit;
  const { requiredConfirmations: required_confirmations, requiredSeconds: required_seconds } = rule;
  const isSame =
    deposit.required_confirmations === required_confirmations && deposit.required_seconds === required_seconds;
  return isSame ? deposit : { ...deposit, required_confirmations, required_seconds };
}

/** Whether the sums of a holding match what the chain shows, so that its dust may count. */
function isCurrent(facts: IntentFacts, holding: Holding): boolean {
  return !holding.is_stale && !facts.isBehind(holding.chain);
}

/** Final dust that is not counted, in the payout token's units. */
function waitingDust(facts: IntentFacts): bigint {
  const current = facts.holdings.filter(({ after }) => isCurrent(facts, after));
  return current.reduce((sum, { after }) => sum + after.waiting_units, 0n);
}

/** All dust counts once the price is reached: minimums never delay a fully paid intent. */
function decideHoldings(
  intent: IntentRow,
  facts: IntentFacts,
  deposits: readonly DepositChange[],
): readonly HoldingChange[] {
  const { counted_units: countedUnits } = progressOf(intent, facts, deposits);
  const confirmed = deposits.filter(({ after }) => after.status === "confirmed" && !facts.isBehind(after.chain));
  const confirmedUnits = confirmed.reduce((sum, { after }) => sum + toPayoutUnits(after, intent), 0n);
  const isPaid = isPriceDeliverable(intent, countedUnits + confirmedUnits + waitingDust(facts));
  return facts.holdings.map(({ before, after }) => {
    if (facts.isBehind(before.chain)) return { before, after: before };
    return { before, after: isPaid && isCurrent(facts, after) ? countDustIfAllowed(intent, facts, after) : after };
  });
}

function countDustIfAllowed(intent: IntentRow, facts: IntentFacts, holding: Holding): Holding {
  if (holding.waiting_count === 0n) return holding;
  if (canCountDust(holding, { intent, facts })) return countWaitingDust(holding, facts.at);
  return holding.verify_from === null ? { ...holding, verify_from: facts.at } : holding;
}

function listEvents(
  before: IntentRow,
  { after, deposits, holdings }: Pick<Decision, "after" | "deposits" | "holdings">,
): DecidedEvent[] {
  return [
    ...deposits.flatMap((deposit) => depositEventTypes(deposit).map((type) => ({ type, deposit }))),
    ...holdings.flatMap((holding) => dustEventTypes(holding).map((type) => ({ type, holding }))),
    ...intentEventTypes(before, after).map((type) => ({ type })),
  ];
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

function dustEventTypes({ before, after }: HoldingChange): EventType[] {
  if (after.dust_count === before.dust_count) return [];
  return after.dust_count > before.dust_count ? ["deposit.counted"] : ["deposit.dropped"];
}
