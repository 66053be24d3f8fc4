/** Formats units as a decimal: 1500000 with 6 decimals is "1.5". */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** Later times have no date in JavaScript. */
const SECONDS_MAX = 8_640_000_000_000;

/** Formats a Unix time in seconds as a UTC day: 2027-06-01. */
export function formatDay(seconds: number): string {
  if (seconds > SECONDS_MAX) return "the year 275760";
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}
