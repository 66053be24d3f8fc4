/** Parses a day or a time in UTC to a full ISO 8601 time; returns undefined when the text is neither. */
export function parseTime(text: string): string | undefined {
  if (!/^[1-9]\d{3}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/.test(text)) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return undefined;
  const iso = time.toISOString();
  // Date would turn 30 February into 1 or 2 March.
  return iso.startsWith(text.slice(0, "2026-11-01".length)) ? iso : undefined;
}
