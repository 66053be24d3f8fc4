import { FORGET_KEYS_MAX, KEYS_MAX, WINDOW_MS, type RateLimiter, type Taken } from "./limiter.ts";

/**
 * The exact rule: `limit` calls in any 60 seconds, wherever they begin. It remembers the time of each counted call; a counter
 * per calendar minute would let twice the limit through at its edge. For one process.
 */
export function slidingLog(clock: { monotonicMs(): number }, keysMax = KEYS_MAX): RateLimiter {
  // A key moves to the end whenever it is used, so that the front is the longest unused one.
  const logs = new Map<string, number[]>();

  function forget(nowMs: number): void {
    let looked = 0;
    for (const [key, times] of logs) {
      const isOver = (times.at(-1) ?? 0) <= nowMs - WINDOW_MS;
      if (looked >= FORGET_KEYS_MAX || (!isOver && logs.size <= keysMax)) return;
      logs.delete(key);
      looked += 1;
    }
  }

  async function take(key: string, limit: number): Promise<Taken> {
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
