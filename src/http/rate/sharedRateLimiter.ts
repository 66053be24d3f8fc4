import type { Db } from "../../db/database.ts";
import { serverClockMs } from "../../db/serverClock.ts";
import {
  EVICTIONS_PER_CALL_MAX,
  TRACKED_KEYS_MAX,
  WINDOW_MS,
  type RateLimiter,
  type RateLimitResult,
} from "./rateLimiter.ts";
import { releasePermits, LEASE_MS, createLeaseRequester, type UnusedPermits, type LeaseReport } from "./leaseStore.ts";

// Allows `limit` calls in any 60 seconds across all processes, without a statement for each call. A process leases
// permits and uses them locally. The database counts a leased permit as used at the last possible moment, until the
// process reports or releases it. So a loss (a response, a process, an evicted key) allows fewer calls for a minute,
// and never more.
//
// Only durations cross processes: the age of a call, measured by its process's monotonic clock at the time of the
// statement. Wall clocks do not matter.

export type SharedRateLimiterWorld = { db: Db; clock: { monotonicMs(): number } };
export type SharedRateLimiterOptions = {
  /** Identifies this process. */
  holder: string;
  /** The prefix of every key, which separates this limit from others. */
  prefix: string;
  /** The first lease of a new key, for limits whose keys are rarely seen again; a quarter of the limit by default. */
  initialPermits?: number;
  /** SQL for the database's clock; tests replace it. */
  nowMs?: string;
  /** The most keys in memory; TRACKED_KEYS_MAX by default. */
  keysMax?: number;
};

export interface SharedRateLimiter extends RateLimiter {
  /**
   * Releases the unused permits of expired leases, or of all, for at most `keysMaxPerRelease` keys. Returns the number
   * of keys.
   */
  releaseUnused(which: "lapsed" | "all", keysMax: number): Promise<number>;
}

/** Permits that this process leased. Local times are from the monotonic clock. */
type HeldLease = { untilMs: bigint; requestedAtMs: number; granted: number; callTimesMs: number[] };

type KeyState = {
  lease: HeldLease | undefined;
  pendingLease: Promise<void> | undefined;
  lastUsedAtMs: number;
  /** Permits left, as of the last lease. */
  remaining: number;
  resetAtMs: number;
  /** Until this time calls are refused without asking the database. */
  refusedUntilMs: number;
};

/** Under a flood of refused calls, the database is asked once in this time. */
const DENIAL_CACHE_MS_MAX = 1_000;
/** A lease either grants permits or refuses, and each halves what is left, so a call needs far fewer tries. */
const TRIES_MAX = 200;

/**
 * Creates a limiter that all processes on one database share. `tryAcquire` rejects with the database's error when a
 * lease fails.
 */
export function createSharedRateLimiter(
  world: SharedRateLimiterWorld,
  options: SharedRateLimiterOptions,
): SharedRateLimiter {
  const { clock } = world;
  const { holder, prefix, initialPermits, nowMs: serverMs = serverClockMs, keysMax = TRACKED_KEYS_MAX } = options;
  const requestLease = createLeaseRequester(serverMs);
  // Each use moves a key to the end, so that the first key is the least recently used one.
  const keyStates = new Map<string, KeyState>();
  // Keys with unused permits, in the order of their leases.
  const leasedKeys = new Map<string, KeyState>();

  function touchKey(key: string, nowMs: number): KeyState {
    const state = keyStates.get(key) ?? createKeyState(nowMs);
    state.lastUsedAtMs = nowMs;
    keyStates.delete(key);
    keyStates.set(key, state);
    evictIdleKeys(nowMs);
    return state;
  }

  function evictIdleKeys(nowMs: number): void {
    let checked = 0;
    for (const [key, state] of keyStates) {
      const isOver = state.lastUsedAtMs <= nowMs - WINDOW_MS - LEASE_MS;
      if (checked >= EVICTIONS_PER_CALL_MAX || (!isOver && keyStates.size <= keysMax)) return;
      keyStates.delete(key);
      leasedKeys.delete(key);
      checked += 1;
    }
  }

  async function renewLease(key: string, limit: number, state: KeyState): Promise<void> {
    const requestedAtMs = clock.monotonicMs();
    const report = createLeaseReport(state.lease, requestedAtMs);
    state.lease = undefined;
    leasedKeys.delete(key);
    const lease = await requestLease(world.db, { key: prefix + key, limit, holder, report, initialPermits });
    const nowMs = clock.monotonicMs();
    const granted = lease?.granted ?? 0;
    state.remaining = lease?.remaining ?? 0;
    state.resetAtMs = nowMs + (lease?.resetMs ?? WINDOW_MS);
    if (lease === undefined || granted === 0) {
      state.refusedUntilMs = Math.min(state.resetAtMs, nowMs + DENIAL_CACHE_MS_MAX);
      return;
    }
    state.lease = { untilMs: lease.untilMs, requestedAtMs, granted, callTimesMs: [] };
    leasedKeys.set(key, state);
  }

  async function tryAcquire(key: string, limit: number): Promise<RateLimitResult> {
    const state = touchKey(key, clock.monotonicMs());
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const result = useLeasedPermit(state, limit, clock.monotonicMs());
      if (result !== undefined) return result;
      state.pendingLease ??= renewLease(key, limit, state).finally(() => {
        state.pendingLease = undefined;
      });
      await state.pendingLease;
    }
    return denyCall(state, limit, clock.monotonicMs());
  }

  async function releaseUnused(which: "lapsed" | "all", keysMaxPerRelease: number): Promise<number> {
    const isDue = (lease: HeldLease) => which === "all" || isExpired(lease, clock.monotonicMs());
    const unused = collectUnused(leasedKeys, { prefix, keysMax: keysMaxPerRelease, isDue });
    if (unused.length > 0) await releasePermits(world.db, unused);
    return unused.length;
  }

  return { tryAcquire, releaseUnused };
}

/** Removes the leased and unused permits from `leasedKeys`, oldest lease first. */
function collectUnused(
  leasedKeys: Map<string, KeyState>,
  options: { prefix: string; keysMax: number; isDue: (lease: HeldLease) => boolean },
): UnusedPermits[] {
  const unused: UnusedPermits[] = [];
  for (const [key, { lease }] of leasedKeys) {
    if (unused.length >= options.keysMax || lease === undefined || !options.isDue(lease)) break;
    leasedKeys.delete(key);
    const count = lease.granted - lease.callTimesMs.length;
    // Set before the database call: if that fails, these permits count as used until their lease ends.
    lease.granted = lease.callTimesMs.length;
    if (count > 0) unused.push({ key: options.prefix + key, untilMs: lease.untilMs, count });
  }
  return unused;
}

function createKeyState(nowMs: number): KeyState {
  return {
    lease: undefined,
    pendingLease: undefined,
    lastUsedAtMs: nowMs,
    remaining: 0,
    resetAtMs: 0,
    refusedUntilMs: 0,
  };
}

/** Uses a leased permit, or repeats a recent refusal. Returns undefined when the database has to be asked. */
function useLeasedPermit(state: KeyState, limit: number, nowMs: number): RateLimitResult | undefined {
  const { lease } = state;
  if (lease !== undefined && lease.callTimesMs.length < lease.granted && !isExpired(lease, nowMs)) {
    lease.callTimesMs.push(nowMs);
    const remaining = state.remaining + lease.granted - lease.callTimesMs.length;
    const ownResetAtMs = (lease.callTimesMs[0] ?? nowMs) + WINDOW_MS;
    // `resetAtMs` is as old as the lease: the oldest call may have left the window since then.
    const resetAtMs = state.resetAtMs > nowMs ? Math.min(state.resetAtMs, ownResetAtMs) : ownResetAtMs;
    return { isAllowed: true, limit, remaining, resetMs: Math.min(resetAtMs - nowMs, WINDOW_MS) };
  }
  return nowMs < state.refusedUntilMs ? denyCall(state, limit, nowMs) : undefined;
}

function denyCall({ resetAtMs }: KeyState, limit: number, nowMs: number): RateLimitResult {
  return { isAllowed: false, limit, remaining: 0, resetMs: Math.min(Math.max(0, resetAtMs - nowMs), WINDOW_MS) };
}

// Measures from the request, which is before the database granted the lease, so that a permit never outlives it.
function isExpired(lease: HeldLease, nowMs: number): boolean {
  return nowMs - lease.requestedAtMs >= LEASE_MS;
}

function createLeaseReport(lease: HeldLease | undefined, reportedAtMs: number): LeaseReport | undefined {
  if (lease === undefined) return undefined;
  // Rounds down, so that no call is reported older than it is.
  const callAgesMs = lease.callTimesMs.map((madeAtMs) => Math.floor(reportedAtMs - madeAtMs));
  return { untilMs: lease.untilMs, permits: lease.granted, callAgesMs };
}
