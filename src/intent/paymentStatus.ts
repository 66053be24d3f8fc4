import { sql, type RawBuilder } from "kysely";
import { BPS, convertUnits, PRICE_DECIMALS } from "../kernel/units.ts";

// The payment progress of an intent. All amounts are in the payout token's smallest units; only counted deposits are
// progress.

/** The intent columns that determine its progress. */
export type IntentProgress = {
  readonly price_token_units: bigint | null;
  readonly one_time: boolean;
  readonly counted_units: bigint;
  readonly underpay_tolerance_bps: number;
};

export type PaymentStatus = "unpaid" | "partial" | "paid" | "overpaid";

/**
 * Whether the counted amount reaches the price, less the tolerance in basis points. Accounts set a tolerance because
 * exchanges deduct their fee from a withdrawal.
 */
export function isPriceReached(priceTokenUnits: bigint, toleranceBps: number, countedUnits: bigint): boolean {
  return countedUnits * BPS >= priceTokenUnits * (BPS - BigInt(toleranceBps));
}

/**
 * Whether an amount is delivered whatever minimum applies: it reaches the price, or less than a millionth of the payout
 * currency is missing, which no price can express and no payer sees.
 */
export function isDeliverable(
  { price, decimals, toleranceBps }: { price: bigint; decimals: number; toleranceBps: number },
  units: bigint,
): boolean {
  return isPriceReached(price, toleranceBps, units) || price - units < convertUnits(1n, PRICE_DECIMALS, decimals);
}

/** `isPriceReached` in SQL, for the row `intent`. Null without a price. */
export function reachesPrice(units: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${units} * ${sql.lit(Number(BPS))} >= intent.price_token_units * (${sql.lit(Number(BPS))} - intent.underpay_tolerance_bps))`;
}

/** `isDeliverable` in SQL, for the row `intent`. Null without a price. */
export function nearlyReachesPrice(units: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${reachesPrice(units)}
    or intent.price_token_units - ${units} < 10::numeric ^ (intent.payout_decimals - ${sql.lit(PRICE_DECIMALS)}))`;
}

/** An open-ended intent is paid from its first counted deposit; only a one-time intent can be overpaid. */
export function paymentStatus(intent: IntentProgress): PaymentStatus {
  if (intent.counted_units === 0n) return "unpaid";
  if (intent.price_token_units === null) return "paid";
  if (!isPriceReached(intent.price_token_units, intent.underpay_tolerance_bps, intent.counted_units)) return "partial";
  return excessUnits(intent) > 0n ? "overpaid" : "paid";
}

/** The amount missing to the full price, also within the tolerance; 0 without a price. */
export function shortfallUnits(intent: IntentProgress): bigint {
  const missing = (intent.price_token_units ?? 0n) - intent.counted_units;
  return missing > 0n ? missing : 0n;
}

/** The amount counted beyond the price of a one-time intent; 0 for a repeatable intent, which has no upper bound. */
export function excessUnits(intent: IntentProgress): bigint {
  if (!intent.one_time || intent.price_token_units === null) return 0n;
  const surplus = intent.counted_units - intent.price_token_units;
  return surplus > 0n ? surplus : 0n;
}
