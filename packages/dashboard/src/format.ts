import type { Locale } from "@tributary/checkout/locales";

// Numbers and times as the pages write them.

export type TimeFormat = {
  readonly locale: Locale;
  /** Undefined: the reader's own. */ readonly timeZone: string | undefined;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Groups of three digits with a comma, as in block numbers and counts. */
export function groupDigits(whole: string): string {
  return whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A duration in its largest unit: "0.9 s", "11 s", "25 min", "5 h", "3 d". */
export function formatAge(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  if (ms < 2 * MINUTE_MS) return `${Math.floor(ms / 1_000)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format takes longer to make than to use, and a list uses the same for every row. */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(key, known);
  return known;
}

/** The time of day, with the day unless it is the day of `now`. UTC says so. */
export function formatMoment(iso: string, now: string, { locale, timeZone }: TimeFormat): string {
  const day = dateFormat("en-CA", { timeZone, dateStyle: "short" });
  const isSameDay = day.format(new Date(iso)) === day.format(new Date(now));
  const time: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const isSameYear = iso.slice(0, 4) === now.slice(0, 4);
  const date: Intl.DateTimeFormatOptions = {
    day: "numeric",
    month: "short",
    ...(isSameYear ? {} : { year: "numeric" }),
  };
  const options: Intl.DateTimeFormatOptions = isSameDay ? { ...time, second: "2-digit" } : { ...date, ...time };
  const text = dateFormat(locale, { ...options, numberingSystem: "latn", timeZone }).format(new Date(iso));
  return timeZone === "UTC" ? `${text} UTC` : text;
}

/** The moment in UTC to the second, as titles of times have it. */
export function formatUtc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Bytes with three digits at most: "41.2 GB". */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < BYTE_UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit] ?? ""}`;
}

/** "0x2713…9C72". The whole text stands beside it in the title. */
export function shorten(text: string): string {
  return text.length <= 18 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`;
}
