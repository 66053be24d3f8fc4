import { excessUnits, paymentStatus } from "../../../intent/paymentStatus.ts";
import type { IntentRow } from "../../../intent/store.ts";
import { convertUnits } from "../../../kernel/units.ts";
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

/** Everything that arrived with a route to the payout, final or not: nobody is asked to send it again. */
export function arrivedUnits({ intent, transfers, waitingUnits }: Progress): bigint {
  const underReview = transfers.filter(isUnderReview);
  const reviewedUnits = underReview.reduce((sum, transfer) => sum + toPayoutUnits(intent, transfer), 0n);
  return intent.received_units + waitingUnits + reviewedUnits;
}

/** The price minus everything that arrived; null without a price. */
export function remainingUnits(progress: Progress): bigint | null {
  const { price_token_units: priceUnits } = progress.intent;
  if (priceUnits === null) return null;
  const missing = priceUnits - arrivedUnits(progress);
  return missing > 0n ? missing : 0n;
}

export function determineStage(progress: Progress): CheckoutStage {
  const { intent, transfers } = progress;
  if (["paid", "overpaid"].includes(paymentStatus(intent))) return excessUnits(intent) > 0n ? "overpaid" : "paid";
  const present = transfers.filter(({ status }) => status !== "dropped");
  if (intent.status !== "active") return present.some(({ late }) => late === true) ? "late" : "archived";
  const [newest] = present;
  const remaining = remainingUnits(progress);
  const arriving = present.filter(({ reason }) => reason !== "no_route");
  if (arriving.length > 0 && isEverythingHere(progress, remaining)) {
    if (newest !== undefined && holdReason(intent, newest) === "providers_disagree") return "held";
    return arriving.length > 1 ? "many" : "seen";
  }
  if (newest !== undefined && holdReason(intent, newest) !== null) return "held";
  return arrivedUnits(progress) > 0n && remaining !== null ? "underpaid" : "waiting";
}

/** Whether nothing is left to send. Of an open-ended intent any transfer that counts by itself is enough. */
function isEverythingHere(progress: Progress, remaining: bigint | null): boolean {
  if (remaining !== null) return remaining === 0n;
  return arrivedUnits(progress) > progress.waitingUnits;
}

/** Held until its providers agree, which is no reason to send the amount again. */
function isUnderReview({ status, reason }: TransferRow): boolean {
  return status === "held" && (reason === "provider_disagreement" || reason === "provider_agreement_pending");
}

function toPayoutUnits(intent: IntentRow, { amount_units, token_decimals }: TransferRow): bigint {
  return convertUnits(amount_units, token_decimals ?? intent.payout_decimals, intent.payout_decimals);
}
