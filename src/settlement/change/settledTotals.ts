import { isPayoutAsset } from "../../intent/payoutAsset.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Settlement } from "../settlement.ts";

type Change = { before: Settlement | undefined; after: Settlement; at: Date };

/**
 * Adds the change of one settlement to its intent's totals, in the payout token's units. Money without a way to the
 * payout adds nothing.
 */
export function addToIntentTotals(intent: IntentRow, { before, after, at }: Change): IntentRow {
  const difference = (read: (settlement: Settlement) => bigint | null) =>
    settledPart(intent, after, read) - (before === undefined ? 0n : settledPart(intent, before, read));
  return {
    ...intent,
    settled_units: intent.settled_units + difference((settlement) => settlement.gross_units),
    fee_units: intent.fee_units + difference((settlement) => settlement.fee_units),
    net_units: intent.net_units + difference((settlement) => settlement.net_units),
    updated_at: at,
  };
}

/** A bridged settlement lands in the payout token, which has the decimals of the token that was bridged. */
function settledPart(
  intent: IntentRow,
  settlement: Settlement,
  read: (settlement: Settlement) => bigint | null,
): bigint {
  return isPayoutAsset(intent, settlement) || settlement.landed_chain !== null ? (read(settlement) ?? 0n) : 0n;
}
