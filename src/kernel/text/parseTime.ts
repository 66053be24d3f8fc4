/** A day or a time in UTC, as ISO 8601 with both; undefined when it is neither. */
export function parseTime(text: string): string | undefined {
  if (!/^[1-9]\d{3}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/.test(text)) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return undefined;
  const iso = time.toISOString();
  // The thirtieth of February would be a day of March.
  return iso.startsWith(text.slice(0, "2026-11-01".length)) ? iso : undefined;
}
