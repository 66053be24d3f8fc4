/** The result for one call. Times are milliseconds from now. */
export type RateLimitResult = {
  isAllowed: boolean;
  limit: number;
  /** Calls left after this one. */
  remaining: number;
  /** Milliseconds until the oldest call leaves the window, which makes room for one more. */
  resetMs: number;
};

export interface RateLimiter {
  /**
   * Counts a call of `key` if fewer than `limit` were counted in the last 60 seconds. A refused call does not count.
   */
  tryAcquire(key: string, limit: number): Promise<RateLimitResult>;
}

export const WINDOW_MS = 60_000;

/**
 * Beyond this number the least recently used key is dropped: under a flood of keys, bounded memory matters more than
 * old counts.
 */
export const TRACKED_KEYS_MAX = 100_000;
/** The most keys that one call checks for eviction. It exceeds one, so that the map shrinks again. */
export const EVICTIONS_PER_CALL_MAX = 2;
