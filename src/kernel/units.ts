// Amounts are bigint, in the token's smallest unit. Prices are in millionths of the payout currency.

export const PRICE_DECIMALS = 6;
export const BPS = 10_000n;

/**
 * Converts an amount from one number of decimals to another at par. Rounds down: a received amount is never rounded up.
 */
export function convertUnits(amountUnits: bigint, fromDecimals: number, toDecimals: number): bigint {
  const shift = toDecimals - fromDecimals;
  return shift >= 0 ? amountUnits * 10n ** BigInt(shift) : amountUnits / 10n ** BigInt(-shift);
}

/** Converts a price to token units; returns undefined when the result is not a whole number. */
export function priceToTokenUnits(priceUnits: bigint, tokenDecimals: number): bigint | undefined {
  const tokenUnits = convertUnits(priceUnits, PRICE_DECIMALS, tokenDecimals);
  return convertUnits(tokenUnits, tokenDecimals, PRICE_DECIMALS) === priceUnits ? tokenUnits : undefined;
}

/** The platform fee on a settlement, rounded down in the merchant's favour. */
export function feeOf(grossUnits: bigint, routeCostUnits: bigint, feeBps: number): bigint {
  return ((grossUnits - routeCostUnits) * BigInt(feeBps)) / BPS;
}

/** Formats units as a plain exact decimal without trailing zeros: "24875000" with 6 decimals is "24.875". */
export function formatUnits(amountUnits: bigint, decimals: number): string {
  const negative = amountUnits < 0n;
  const digits = (negative ? -amountUnits : amountUnits).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Parses a plain decimal such as "24.875"; returns undefined when it is malformed or finer than the token's units. */
export function parseUnits(text: string, decimals: number): bigint | undefined {
  const match = /^(\d{1,60})(?:\.(\d{1,60}))?$/.exec(text);
  if (!match) return undefined;
  const fraction = (match[2] ?? "").replace(/0+$/, "");
  if (fraction.length > decimals) return undefined;
  return BigInt((match[1] ?? "") + fraction.padEnd(decimals, "0"));
}
