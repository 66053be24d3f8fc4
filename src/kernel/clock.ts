// The only source of time. All other code receives a Clock, so that a test or a simulation controls it.
//
// The rule of clocks. A service's `now()` is the database's time (src/db/serverClock.ts), so that processes agree and
// no machine's own clock decides. A database may fail over to a machine whose clock is behind, so a stored time may be
// in the future. Code that waits for a time uses `hasElapsed`, or `isDue` in SQL (src/db/due.ts): a time further ahead
// than its longest wait counts as over.

/** Durations and waits. */
export interface Timer {
  /** Milliseconds from an arbitrary start. They never decrease; use them for durations only. */
  monotonicMs(): number;
  /** Resolves after `durationMs`, or at once when `signal` aborts. It never rejects. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

export interface Clock extends Timer {
  /** The current time, UTC. It may step back, and processes may differ by up to CLOCK_DIFFERENCE_MS_MAX. */
  now(): Date;
}

/** The process's timer, for waits and durations. */
export const systemTimer: Timer = {
  monotonicMs: () => performance.now(),
  sleep: (durationMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, durationMs);
      signal?.addEventListener("abort", done, { once: true });
    }),
};

/** The machine's own clock, for tests and for what no database stores. A service uses its database's clock. */
export const systemClock: Clock = { ...systemTimer, now: () => new Date() };

/**
 * Two processes never differ by more, in milliseconds: a time that is further ahead was stored before a clock stepped
 * back.
 */
export const CLOCK_DIFFERENCE_MS_MAX = 60_000;

/**
 * Whether `waitMs` have passed between `since` and `now`. Also true when `since` is in the future: the clock has
 * stepped back after it was stored, and nothing may wait for the former time to come again.
 */
export function hasElapsed(waitMs: number, { since, now }: { since: Date; now: Date }): boolean {
  return addMs(since, waitMs) <= now || since > addMs(now, CLOCK_DIFFERENCE_MS_MAX);
}

export const DAY_MS = 86_400_000;

/** The wait after so many earlier failures: the first one doubles with each, up to the longest. */
export function backoffMs(
  failures: number,
  { firstMs, maxMs, factor = 2 }: { firstMs: number; maxMs: number; factor?: number },
): number {
  return Math.min(firstMs * factor ** failures, maxMs);
}

/** Returns the instant `durationMs` after `from`, or before it when `durationMs` is negative. */
export function addMs(from: Date, durationMs: number): Date {
  return new Date(from.getTime() + durationMs);
}

/** Parses an ISO 8601 instant; returns undefined when the text is invalid. */
export function parseInstant(text: string): Date | undefined {
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}

/** Whole seconds from one instant to a later one, at least 1, as `Retry-After` counts them. */
export function secondsBetween(from: Date, to: Date): number {
  return Math.max(1, Math.ceil((to.getTime() - from.getTime()) / 1_000));
}

/** The instant of a Unix time, which counts seconds. */
export function fromUnixSeconds(seconds: bigint): Date {
  return new Date(Number(seconds) * 1_000);
}
