import type { EventType } from "../../event/event.ts";
import { paymentStatus } from "../../intent/paymentStatus.ts";
import type { IntentRow } from "../../intent/store.ts";
import { isIntentPriceReached } from "./countFinal.ts";
import { isHeldForAgreement, isReceived, toPayoutUnits, type Deposit, type DepositChange } from "../deposit.ts";
import { receivedDustUnits, type Holding, type HoldingChange } from "../holding/dust.ts";

/**
 * Computes an intent after its deposits and its dust changed: totals by difference, and the status from the totals.
 * Dust is in the payout token, and counts as received once its block is final.
 */
export function computeIntentProgress(
  intent: IntentRow,
  { changes, holdings }: { changes: readonly DepositChange[]; holdings: readonly HoldingChange[] },
  context: { isDestinationTaken: boolean; at: Date },
): IntentRow {
  const dustDifference = (valueOf: (holding: Holding) => bigint) =>
    holdings.reduce((sum, { before, after }) => sum + valueOf(after) - valueOf(before), 0n);
  const difference = (valueOf: (deposit: Deposit) => bigint) =>
    changes.reduce(
      (sum, { before, after }) => sum + valueOf(after) - (before === undefined ? 0n : valueOf(before)),
      0n,
    );
  const countedDustUnits = dustDifference((holding) => holding.dust_units);
  const lateUnits = difference((deposit) => (deposit.late ? deposit.counted_units : 0n)) + countedDustUnits;
  const after: IntentRow = {
    ...intent,
    received_units:
      intent.received_units +
      difference((deposit) => (isReceived(deposit) ? toPayoutUnits(deposit, intent) : 0n)) +
      dustDifference(receivedDustUnits),
    counted_units: intent.counted_units + difference((deposit) => deposit.counted_units) + countedDustUnits,
    agreement_units:
      intent.agreement_units +
      difference((deposit) => (isHeldForAgreement(deposit) ? toPayoutUnits(deposit, intent) : 0n)),
    late_units: intent.status === "active" ? 0n : atLeastZero(intent.late_units + lateUnits),
    pending_count: intent.pending_count + Number(difference((deposit) => (deposit.status === "seen" ? 1n : 0n))),
    updated_at: context.at,
  };
  return {
    ...after,
    ...nextStatus(after, { ...context, wasReached: isIntentPriceReached(intent, intent.counted_units) }),
  };
}

function atLeastZero(units: bigint): bigint {
  return units > 0n ? units : 0n;
}

/** Only the change that takes the amount below the price reopens an intent; later changes may be unrelated deposits. */
function nextStatus(
  intent: IntentRow,
  context: { wasReached: boolean; isDestinationTaken: boolean; at: Date },
): Partial<IntentRow> {
  const isReached = isIntentPriceReached(intent, intent.counted_units);
  if (intent.status === "active" && intent.one_time && isReached) return { status: "settled", settled_at: context.at };
  const hasLostPrice = context.wasReached && !isReached;
  const canReopen = !intent.occupies || !context.isDestinationTaken;
  // What came after the settlement pays the intent that is open again.
  if (intent.status === "settled" && hasLostPrice && canReopen)
    return { status: "active", settled_at: null, late_units: 0n };
  return {};
}

/** The types of the events between two states of an intent, in the order in which they are appended. */
export function intentEventTypes(before: IntentRow, after: IntentRow): EventType[] {
  const types: EventType[] = [];
  const isCovered = (intent: IntentRow) => ["paid", "overpaid"].includes(paymentStatus(intent));
  if (after.counted_units > before.counted_units && paymentStatus(after) === "partial")
    types.push("payment_intent.partially_paid");
  if (isCovered(after) && !isCovered(before)) types.push("payment_intent.paid");
  if (before.status === "active" && after.status === "settled") types.push("payment_intent.settled");
  if (before.status === "settled" && after.status === "active") types.push("payment_intent.reopened");
  if (after.status !== "active" && isCovered(before) && !isCovered(after)) types.push("payment_intent.reversed");
  return types;
}
