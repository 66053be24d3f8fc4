import type { Decimal, Units } from "./checkoutState.ts";
import type { Locale } from "./messages/locales.ts";

const FRACTION_DIGITS_MIN = 2;
/** Groups begin at five digits: "1234.00" is read at once. */
const GROUPED_DIGITS_MIN = 5;
const LINE_CHARACTERS_MAX = 12;
const NARROW_SPACE = "\u202f";
const NO_BREAK_SPACE = "\u00a0";

/**
 * Formats an amount as wallets and exchanges take it: a decimal point in every language, at least two fraction digits.
 * A comma is never written, because "25,000" and "25.000" mean different sums to different readers.
 */
export function formatDecimal(decimal: Decimal): string {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return `${groupDigits(whole)}.${fraction.padEnd(FRACTION_DIGITS_MIN, "0")}`;
}

/** The same without grouping, for the clipboard. */
export function plainDecimal(decimal: Decimal): string {
  return formatDecimal(decimal).replaceAll(NARROW_SPACE, "");
}

/** Number and coin, kept on one line unless they are too long for a phone's. */
export function formatMoney(decimal: Decimal, symbol: string): string {
  const number = formatDecimal(decimal);
  return `${number}${number.length > LINE_CHARACTERS_MAX ? " " : NO_BREAK_SPACE}${symbol}`;
}

function groupDigits(whole: string): string {
  if (whole.length < GROUPED_DIGITS_MIN) return whole;
  return whole.replace(/\B(?=(?:\d{3})+$)/g, NARROW_SPACE);
}

/** Rescales units to another number of decimals. Rounds up, so that the scaled amount still reaches the price. */
export function scaleUnits(units: Units, from: number, to: number): bigint {
  const value = BigInt(units);
  if (to >= from) return value * 10n ** BigInt(to - from);
  const divisor = 10n ** BigInt(from - to);
  return (value + divisor - 1n) / divisor;
}

/** A decimal of at most `decimals` fraction digits as units. */
export function decimalUnits(decimal: Decimal, decimals: number): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(decimals, "0"));
}

/** Rounds a decimal up to at most `decimals` fraction digits. */
export function roundUpDecimal(decimal: Decimal, decimals: number): Decimal {
  const fraction = decimal.split(".")[1] ?? "";
  if (fraction.length <= decimals) return decimal;
  const units = decimalUnits(decimal, fraction.length);
  return unitsToDecimal(scaleUnits(String(units), fraction.length, decimals), decimals);
}

/** Units as the service writes them: without zeros at the end. */
export function unitsToDecimal(units: bigint, decimals: number): Decimal {
  const digits = String(units).padStart(decimals + 1, "0");
  const fraction = decimals === 0 ? "" : digits.slice(-decimals).replace(/0+$/, "");
  const whole = digits.slice(0, digits.length - decimals);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/**
 * What a payer typed as an amount, with a point or a comma; null where it is none, is zero, or has more than `decimals`
 * fraction digits.
 */
export function typedDecimal(text: string, decimals: number): Decimal | null {
  const [, whole, digits = ""] = /^(\d{1,12})(?:[.,](\d*))?$/.exec(text.replaceAll(/\s/g, "")) ?? [];
  // Without zeros at its end, so that 1,000 is shown as 1.00.
  const fraction = digits.replace(/0+$/, "");
  if (whole === undefined || fraction.length > decimals || !/[1-9]/.test(whole + fraction)) return null;
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** The share of a whole in percent, from 0 to 100, in steps of 5: the style sheet has one rule for each step. */
export function percentStep(part: bigint, whole: bigint): number {
  if (whole <= 0n) return 0;
  const step = Number((part * 20n) / whole) * 5;
  return Math.max(0, Math.min(100, step));
}

/** "0x2713…9C72", for the payer's own address. */
export function shortAddress(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Eight characters in two groups that stay on one line. */
export function formatPaymentNumber(paymentNumber: string): string {
  return `${paymentNumber.slice(0, 4)}${NO_BREAK_SPACE}${paymentNumber.slice(4)}`.trim();
}

export type TimeFormat = { readonly locale: Locale; readonly timeZone: string | undefined };

/** The time of day, and the day too unless it is the day of `now`. */
export function formatMoment(iso: string, now: string, { locale, timeZone }: TimeFormat): string {
  const options: Intl.DateTimeFormatOptions = { numberingSystem: "latn", timeZone };
  const day = new Intl.DateTimeFormat(locale, { ...options, dateStyle: "medium" });
  const isSameDay = day.format(new Date(iso)) === day.format(new Date(now));
  return formatDate(
    iso,
    { locale, timeZone },
    isSameDay ? { timeStyle: "short" } : { dateStyle: "long", timeStyle: "short" },
  );
}

/**
 * A day, with its time when `style` has one. Without a time zone it is the reader's; the server writes UTC and says so.
 */
export function formatDate(iso: string, { locale, timeZone }: TimeFormat, style: Intl.DateTimeFormatOptions): string {
  const text = new Intl.DateTimeFormat(locale, { ...style, numberingSystem: "latn", timeZone }).format(new Date(iso));
  return timeZone === "UTC" && style.timeStyle !== undefined ? `${text} UTC` : text;
}

/** From here on a sum of dollars has groups, which differ by language. */
const GROUPED_USD_MIN = 1_000;

/**
 * Dollars as `Intl.NumberFormat` writes them, rounded up to cents. Making a formatter takes a slow phone longer than
 * drawing the choices, so only large sums get one.
 */
export function formatUsd(decimal: Decimal, locale: Locale): string {
  const [whole = "0", fraction = ""] = roundUpDecimal(decimal, FRACTION_DIGITS_MIN).split(".");
  const cents = fraction.padEnd(FRACTION_DIGITS_MIN, "0");
  if (Number(whole) >= GROUPED_USD_MIN) {
    const options = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", numberingSystem: "latn" };
    return new Intl.NumberFormat(locale, options as Intl.NumberFormatOptions).format(Number(`${whole}.${cents}`));
  }
  const number = `${whole}${["de", "es", "fr", "pt", "ru", "tr"].includes(locale) ? "," : "."}${cents}`;
  switch (locale) {
    case "de":
    case "es":
    case "fr":
    case "ru":
      return `${number}${NO_BREAK_SPACE}$`;
    case "pt":
      return `$${NO_BREAK_SPACE}${number}`;
    case "ar":
      return `\u200f${number}${NO_BREAK_SPACE}US$`;
    default:
      return `$${number}`;
  }
}

/** Returns the URL when it has one of these schemes, so that no other one ever becomes a link. */
export function linkTarget(url: string | null, schemes: readonly string[] = ["https:", "http:"]): string | undefined {
  if (url === null) return undefined;
  const parsed = URL.parse(url);
  return parsed !== null && schemes.includes(parsed.protocol) ? url : undefined;
}
