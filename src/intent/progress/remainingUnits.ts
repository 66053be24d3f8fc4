import { isPriceReached } from "../paymentStatus.ts";

/** The intent columns that determine what is left to pay, in the payout token's smallest units. */
export type ReceivedProgress = {
  readonly price_token_units: bigint | null;
  readonly underpay_tolerance_bps: number;
  /** Final or not, dust of summed blocks included. */
  readonly received_units: bigint;
  /** Held until the chain's providers agree. */
  readonly agreement_units: bigint;
};

/** Everything that arrived with a way to the payout: no payer is asked for it again. */
export function arrivedUnits(intent: Pick<ReceivedProgress, "received_units" | "agreement_units">): bigint {
  return intent.received_units + intent.agreement_units;
}

/**
 * What a payer is asked for, everywhere: 0 once everything that arrived reaches the price less the tolerance, else the
 * price minus everything that arrived. Null without a price.
 */
export function remainingUnits(intent: ReceivedProgress): bigint | null {
  const { price_token_units: price, underpay_tolerance_bps: toleranceBps } = intent;
  if (price === null) return null;
  const arrived = arrivedUnits(intent);
  return isPriceReached(price, toleranceBps, arrived) ? 0n : price - arrived;
}

/** Amounts in words have at most this many fraction digits, as prices have. */
const WORD_DECIMALS = 6;

/** Rounds units up to a whole millionth, for an amount in words: who sends it reaches the exact amount. */
export function roundUpToMillionth(units: bigint, decimals: number): bigint {
  const step = millionth(decimals);
  return ((units + step - 1n) / step) * step;
}

/** Rounds units down to a whole millionth. */
export function roundDownToMillionth(units: bigint, decimals: number): bigint {
  return units - (units % millionth(decimals));
}

function millionth(decimals: number): bigint {
  return 10n ** BigInt(Math.max(0, decimals - WORD_DECIMALS));
}
