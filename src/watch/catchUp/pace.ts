/** Where a chain stood at a time of the monotonic clock: what was recorded of it, and how far it was. */
export type ProgressSample = { atMs: number; recorded: bigint; head: bigint };

/** How fast a chain is read. */
export type Pace = {
  blocksPerS: number;
  /** Until the head is reached, which goes on meanwhile; undefined when it is not reached at this pace. */
  remainingMs: number | undefined;
};

/** The pace between two marks; undefined when no time lies between them. Pure. */
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

/** How much of the way from `begun` to the head is done, in whole percent; 100 only at the head itself. */
export function computePercent(start: bigint, { recorded, head }: Pick<ProgressSample, "recorded" | "head">): number {
  if (recorded >= head) return 100;
  if (recorded <= start) return 0;
  return Math.min(99, Number(((recorded - start) * 100n) / (head - start)));
}
