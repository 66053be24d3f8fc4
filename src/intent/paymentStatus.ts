import { BPS } from "../kernel/units.ts";

// How far an intent has come. Everything is in the payout token's smallest units, and only counted money is progress.

/** The columns of an intent that its progress is read from. */
export type IntentProgress = {
  readonly price_token_units: bigint | null;
  readonly one_time: boolean;
  readonly counted_units: bigint;
  readonly underpay_tolerance_bps: number;
};

export type PaymentStatus = "unpaid" | "partial" | "paid" | "overpaid";

/** Whether the price is reached: exchanges deduct their fee from what was ordered, so an account may tolerate a little less. */
export function isPriceReached(priceTokenUnits: bigint, toleranceBps: number, countedUnits: bigint): boolean {
  return countedUnits * BPS >= priceTokenUnits * (BPS - BigInt(toleranceBps));
}

/** An open-ended intent is paid from its first counted deposit; only a one-time intent can be overpaid. */
export function paymentStatus(intent: IntentProgress): PaymentStatus {
  if (intent.counted_units === 0n) return "unpaid";
  if (intent.price_token_units === null) return "paid";
  if (!isPriceReached(intent.price_token_units, intent.underpay_tolerance_bps, intent.counted_units)) return "partial";
  return excessUnits(intent) > 0n ? "overpaid" : "paid";
}

/** What is missing to the full price, also where the tolerance already lets the intent pass as paid; 0 without a price. */
export function shortfallUnits(intent: IntentProgress): bigint {
  const missing = (intent.price_token_units ?? 0n) - intent.counted_units;
  return missing > 0n ? missing : 0n;
}

/** What was counted beyond the price of a one-time intent; a repeatable one has no upper end, so there it is 0. */
export function excessUnits(intent: IntentProgress): bigint {
  if (!intent.one_time || intent.price_token_units === null) return 0n;
  const surplus = intent.counted_units - intent.price_token_units;
  return surplus > 0n ? surplus : 0n;
}
