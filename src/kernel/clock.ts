// The only source of time. All other code receives a Clock, so that a test or a simulation controls it.

export interface Clock {
  /** The current time, UTC. */
  now(): Date;
  /** Milliseconds from an arbitrary start. They never decrease; use them for durations only. */
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

/** Returns the instant `durationMs` after `from`, or before it when `durationMs` is negative. */
export function addMs(from: Date, durationMs: number): Date {
  return new Date(from.getTime() + durationMs);
}

/** Parses an ISO 8601 instant; returns undefined when the text is invalid. */
export function parseInstant(text: string): Date | undefined {
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}
