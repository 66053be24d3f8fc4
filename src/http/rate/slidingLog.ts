/** What a limit says to one call. Times are milliseconds from now. */
export type Taken = {
  isAllowed: boolean;
  limit: number;
  /** Calls left right after this one. */
  remaining: number;
  /** Until the oldest call leaves the window and one more is possible. */
  resetMs: number;
};

export interface RateLimiter {
  /** Counts a call of `key` if fewer than `limit` were counted in the 60 seconds before it. A refused call is not counted. */
  take(key: string, limit: number): Taken;
}

const WINDOW_MS = 60_000;

/** Beyond this many keys the longest unused one is forgotten: under a flood of keys, memory matters more than one key's past. */
const KEYS_MAX = 100_000;
/** Keys looked at for forgetting in each call; more than one, so that the log shrinks faster than it grows. */
const FORGET_KEYS_MAX = 2;

/**
 * The exact rule: `limit` calls in any 60 seconds, wherever they begin. It remembers the time of each counted call; a counter
 * per calendar minute would let twice the limit through at its edge. For one process.
 */
export function slidingLog(clock: { monotonicMs(): number }): RateLimiter {
  // A key moves to the end whenever it is used, so that the front is the longest unused one.
  const logs = new Map<string, number[]>();

  function forget(nowMs: number): void {
    let looked = 0;
    for (const [key, times] of logs) {
      const isOver = (times.at(-1) ?? 0) <= nowMs - WINDOW_MS;
      if (looked >= FORGET_KEYS_MAX || (!isOver && logs.size <= KEYS_MAX)) return;
      logs.delete(key);
      looked += 1;
    }
  }

  function take(key: string, limit: number): Taken {
    const nowMs = clock.monotonicMs();
    const times = (logs.get(key) ?? []).filter((time) => time > nowMs - WINDOW_MS);
    const isAllowed = times.length < limit;
    if (isAllowed) times.push(nowMs);
    logs.delete(key);
    logs.set(key, times);
    forget(nowMs);
    const oldestMs = times[0] ?? nowMs;
    return { isAllowed, limit, remaining: limit - times.length, resetMs: oldestMs + WINDOW_MS - nowMs };
  }

  return { take };
}
