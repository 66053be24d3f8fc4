import {
  EVICTIONS_PER_CALL_MAX,
  TRACKED_KEYS_MAX,
  WINDOW_MS,
  type RateLimiter,
  type RateLimitResult,
} from "./rateLimiter.ts";

/**
 * Limits calls exactly: at most `limit` in any 60 seconds. It stores the time of each counted call, because a counter
 * per calendar minute would allow twice the limit around its edge. For a single process.
 */
export function createLocalRateLimiter(clock: { monotonicMs(): number }, keysMax = TRACKED_KEYS_MAX): RateLimiter {
  // Each use moves a key to the end, so that the first key is the least recently used one.
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
