import type { EventType } from "../event/event.ts";
import { paymentStatus } from "../intent/paymentStatus.ts";
import type { IntentRow } from "../intent/store.ts";
import { isIntentPriceReached } from "./countFinal.ts";
import { isReceived, toPayoutUnits, type Deposit } from "./deposit.ts";

/** One deposit as it stood (undefined: unheard of) and as it stands. */
export type DepositChange = { before: Deposit | undefined; after: Deposit };

/** The intent after its deposits changed: tallies by difference, and the states that follow from them. */
export function computeIntentProgress(
  intent: IntentRow,
  changes: readonly DepositChange[],
  context: { isDestinationTaken: boolean; at: Date },
): IntentRow {
  const difference = (valueOf: (deposit: Deposit) => bigint) =>
    changes.reduce(
      (sum, { before, after }) => sum + valueOf(after) - (before === undefined ? 0n : valueOf(before)),
      0n,
    );
  const after: IntentRow = {
    ...intent,
    received_units:
      intent.received_units + difference((deposit) => (isReceived(deposit) ? toPayoutUnits(deposit, intent) : 0n)),
    counted_units: intent.counted_units + difference((deposit) => deposit.counted_units),
    pending_count: intent.pending_count + Number(difference((deposit) => (deposit.status === "seen" ? 1n : 0n))),
    updated_at: context.at,
  };
  return {
    ...after,
    ...nextStatus(after, { ...context, wasReached: isIntentPriceReached(intent, intent.counted_units) }),
  };
}

/** An intent is reopened by the change that takes its price away, or never: later ones may be a stranger's. */
function nextStatus(
  intent: IntentRow,
  context: { wasReached: boolean; isDestinationTaken: boolean; at: Date },
): Partial<IntentRow> {
  const isReached = isIntentPriceReached(intent, intent.counted_units);
  if (intent.status === "active" && intent.one_time && isReached) return { status: "settled", settled_at: context.at };
  const hasLostPrice = context.wasReached && !isReached;
  const canReopen = !intent.occupies || !context.isDestinationTaken;
  if (intent.status === "settled" && hasLostPrice && canReopen) return { status: "active", settled_at: null };
  return {};
}

/** What happened to an intent between two of its rows, in the order in which it is told. */
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
