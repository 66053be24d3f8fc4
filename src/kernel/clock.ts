// The only door to time. Everything else is given a clock, so that a test or a simulation can own it.

export interface Clock {
  /** The time of day, UTC. */
  now(): Date;
  /** Milliseconds that never run backwards; for durations only. */
  monotonicMs(): number;
  /** Resolves after `durationMs`, or at once when `signal` aborts. It never rejects. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
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

/** The instant `durationMs` after `from` (before it, when negative). */
export function addMs(from: Date, durationMs: number): Date {
  return new Date(from.getTime() + durationMs);
}

/** Reads an ISO 8601 instant; undefined when the text is none. */
export function parseInstant(text: string): Date | undefined {
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}
