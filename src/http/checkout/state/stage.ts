import { excessUnits, paymentStatus } from "../../../intent/paymentStatus.ts";
import { arrivedUnits, remainingUnits, roundDownToMillionth } from "../../../intent/progress/remainingUnits.ts";
import type { IntentRow } from "../../../intent/store.ts";
import type { CheckoutStage, HoldReason } from "@tributary/checkout/checkoutState";
import type { TransferRow } from "./stateRows.ts";

// Decides what the page says about a payment. Pure functions; amounts are in the payout token's smallest units.

export type Progress = {
  intent: IntentRow;
  /** Newest first. */
  transfers: readonly TransferRow[];
  /** Final dust that waits for more. */
  waitingUnits: bigint;
};

/** Why a transfer does not count, as a payer is told; null while it counts or is still on its way. */
export function holdReason(intent: IntentRow, transfer: Pick<TransferRow, "chain" | "reason">): HoldReason | null {
  switch (transfer.reason) {
    case "no_route":
      return transfer.chain === `${intent.payout_namespace}:${intent.payout_chain_reference}`
        ? "wrong_token"
        : "wrong_network";
    case "provider_disagreement":
      return "providers_disagree";
    case "below_minimum":
      return "below_minimum";
    default:
      return null;
  }
}

export function determineStage(progress: Progress): CheckoutStage {
  const { intent, transfers } = progress;
  if (isPaidInTime(intent)) return shownExcessUnits(intent) > 0n ? "overpaid" : "paid";
  const present = transfers.filter(({ status }) => status !== "dropped");
  if (intent.status !== "active") return present.length > 0 ? "late" : "archived";
  const [newest] = present;
  const remaining = remainingUnits(intent);
  const arriving = present.filter(({ reason }) => reason !== "no_route");
  if (arriving.length > 0 && isEverythingHere(progress, remaining)) {
    if (newest !== undefined && holdReason(intent, newest) === "providers_disagree") return "held";
    return arriving.length > 1 ? "many" : "seen";
  }
  if (newest !== undefined && holdReason(intent, newest) !== null) return "held";
  return arrivedUnits(intent) > 0n && remaining !== null ? "underpaid" : "waiting";
}

/** Whether what came before the intent closed reaches the price: money for a cancelled order pays nothing. */
function isPaidInTime(intent: IntentRow): boolean {
  const inTime = { ...intent, counted_units: intent.counted_units - intent.late_units };
  return ["paid", "overpaid"].includes(paymentStatus(inTime));
}

/** The excess in words. Less than a millionth is none: a payer who typed what the page asked for may have sent it. */
export function shownExcessUnits(intent: IntentRow): bigint {
  return roundDownToMillionth(excessUnits(intent), intent.payout_decimals);
}

/** Whether nothing is left to send. Of an open-ended intent any transfer that counts by itself is enough. */
function isEverythingHere({ intent, waitingUnits }: Progress, remaining: bigint | null): boolean {
  if (remaining !== null) return remaining === 0n;
  return arrivedUnits(intent) > waitingUnits;
}
