const MINUTE_S = 60;
const HOUR_S = 3_600;

/** A duration in its largest fitting unit: 0.2 s, 20 s, 13 min, 32 h. */
export function formatSeconds(seconds: number): string {
  const round = (value: number) => String(Math.round(value * 10) / 10);
  if (seconds < MINUTE_S) return `${round(seconds)} s`;
  return seconds < HOUR_S ? `${round(seconds / MINUTE_S)} min` : `${round(seconds / HOUR_S)} h`;
}
