/** A chain's recorded block and head at a time of the monotonic clock. */
export type ProgressSample = { atMs: number; recorded: bigint; head: bigint };

/** The speed of a catch-up. */
export type Pace = {
  blocksPerS: number;
  /** Milliseconds until the head, which advances meanwhile; undefined when this pace never reaches it. */
  remainingMs: number | undefined;
};

/** The pace between two samples; undefined when no time lies between them. Pure. */
export function computePace(first: ProgressSample, last: ProgressSample): Pace | undefined {
  const passedMs = last.atMs - first.atMs;
  if (passedMs <= 0) return undefined;
  const perMs = Number(last.recorded - first.recorded) / passedMs;
  const headPerMs = Math.max(0, Number(last.head - first.head) / passedMs);
  const behind = Number(last.head - last.recorded);
  const gainPerMs = perMs - headPerMs;
  const remainingMs = behind <= 0 ? 0 : gainPerMs > 0 ? behind / gainPerMs : undefined;
  return { blocksPerS: Math.max(0, perMs * 1_000), remainingMs };
}

/** The progress from `start` to the head in whole percent; 100 only at the head itself. */
export function computePercent(start: bigint, { recorded, head }: Pick<ProgressSample, "recorded" | "head">): number {
  if (recorded >= head) return 100;
  if (recorded <= start) return 0;
  return Math.min(99, Number(((recorded - start) * 100n) / (head - start)));
}
