/** What a limit says to one call. Times are milliseconds from now. */
export type RateLimitResult = {
  isAllowed: boolean;
  limit: number;
  /** Calls left right after this one. */
  remaining: number;
  /** Until the oldest call leaves the window and one more is possible. */
  resetMs: number;
};

export interface RateLimiter {
  /** Counts a call of `key` if fewer than `limit` were counted in the 60 seconds before it. A refused call is not counted. */
  tryAcquire(key: string, limit: number): Promise<RateLimitResult>;
}

export const WINDOW_MS = 60_000;

/** Beyond this many keys the longest unused one is forgotten: under a flood of keys, memory matters more than one key's past. */
export const TRACKED_KEYS_MAX = 100_000;
/** Keys looked at for forgetting in each call; more than one, so that there are soon fewer again. */
export const EVICTIONS_PER_CALL_MAX = 2;
