import {
  EVICTIONS_PER_CALL_MAX,
  TRACKED_KEYS_MAX,
  WINDOW_MS,
  type RateLimiter,
  type RateLimitResult,
} from "./rateLimiter.ts";

/**
 * The exact rule: `limit` calls in any 60 seconds, wherever they begin. It remembers the time of each counted call; a counter
 * per calendar minute would let twice the limit through at its edge. For one process.
 */
export function createLocalRateLimiter(clock: { monotonicMs(): number }, keysMax = TRACKED_KEYS_MAX): RateLimiter {
  // A key moves to the end whenever it is used, so that the front is the longest unused one.
  const callTimes = new Map<string, number[]>();

  function evictIdleKeys(nowMs: number): void {
    let examined = 0;
    for (const [key, times] of callTimes) {
      const isOver = (times.at(-1) ?? 0) <= nowMs - WINDOW_MS;
      if (examined >= EVICTIONS_PER_CALL_MAX || (!isOver && callTimes.size <= keysMax)) return;
      callTimes.delete(key);
      examined += 1;
    }
  }

  async function tryAcquire(key: string, limit: number): Promise<RateLimitResult> {
    const nowMs = clock.monotonicMs();
    const times = (callTimes.get(key) ?? []).filter((time) => time > nowMs - WINDOW_MS);
    const isAllowed = times.length < limit;
    if (isAllowed) times.push(nowMs);
    callTimes.delete(key);
    callTimes.set(key, times);
    evictIdleKeys(nowMs);
    const oldestMs = times[0] ?? nowMs;
    return { isAllowed, limit, remaining: limit - times.length, resetMs: oldestMs + WINDOW_MS - nowMs };
  }

  return { tryAcquire };
}
