import {
  EVICTIONS_PER_CALL_MAX,
  TRACKED_KEYS_MAX,
  WINDOW_MS,
  type RateLimiter,
  type RateLimitResult,
} from "./rateLimiter.ts";

/** The part of a limit that each process admits without the database. */
const FREE_DIVISOR = 10;

/** What this process has admitted of one key and not reported. */
type LightKey = { unreportedMs: number[]; reportedAtMs: number; report: Promise<void> };

/**
 * Puts a count of this process alone before a shared limiter, for limits that hardly any key ever comes near. The first
 * tenth of a limit costs no statement. The call above it reports that tenth, and from then on every call counts for all
 * processes together. So all of them admit at most the limit, and a tenth more for each process that has reported
 * nothing.
 */
export function createLightRateLimiter(
  clock: { monotonicMs(): number },
  shared: RateLimiter,
  keysMax = TRACKED_KEYS_MAX,
): RateLimiter {
  // Each use moves a key to the end, so that the first key is the least recently used one.
  const keys = new Map<string, LightKey>();

  function touchKey(key: string, nowMs: number): LightKey {
    const state = keys.get(key) ?? {
      unreportedMs: [],
      reportedAtMs: Number.NEGATIVE_INFINITY,
      report: Promise.resolve(),
    };
    keys.delete(key);
    keys.set(key, state);
    let examined = 0;
    for (const [oldest, { unreportedMs, reportedAtMs }] of keys) {
      const isOver = Math.max(unreportedMs.at(-1) ?? reportedAtMs, reportedAtMs) <= nowMs - WINDOW_MS;
      if (oldest === key || examined >= EVICTIONS_PER_CALL_MAX || (!isOver && keys.size <= keysMax)) break;
      keys.delete(oldest);
      examined += 1;
    }
    return state;
  }

  async function tryAcquire(key: string, limit: number): Promise<RateLimitResult> {
    const nowMs = clock.monotonicMs();
    const state = touchKey(key, nowMs);
    const unreportedMs = state.unreportedMs.filter((time) => time > nowMs - WINDOW_MS);
    const isReported = state.reportedAtMs > nowMs - WINDOW_MS;
    if (!isReported && unreportedMs.length < Math.floor(limit / FREE_DIVISOR)) {
      state.unreportedMs = [...unreportedMs, nowMs];
      const resetMs = (unreportedMs[0] ?? nowMs) + WINDOW_MS - nowMs;
      return { isAllowed: true, limit, remaining: limit - state.unreportedMs.length, resetMs };
    }
    state.unreportedMs = [];
    state.reportedAtMs = nowMs;
    // Concurrent calls wait for the report, so that they do not take the room of what has been admitted.
    if (unreportedMs.length > 0)
      state.report = reportCalls(key, limit, unreportedMs.length).finally(() => {
        state.report = Promise.resolve();
      });
    await state.report;
    return shared.tryAcquire(key, limit);
  }

  async function reportCalls(key: string, limit: number, count: number): Promise<void> {
    for (let call = 0; call < count; call += 1) await shared.tryAcquire(key, limit);
  }

  return { tryAcquire };
}
