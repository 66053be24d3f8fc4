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

// `limit` calls in any 60 seconds, of all processes together, without a statement for each call. A process takes calls in advance
// and makes them by itself. The database counts what was taken as if it were made at the last possible moment, until it hears better.
// So whatever is lost on the way (an answer, a process, a key that is forgotten here) lets fewer calls through for a minute, never more.
//
// Only durations are compared across processes: how long ago a call was made, by the clock of its process that never runs backwards,
// before the statement that tells it. What the clocks say the time is does not matter.

export type SharedRateLimiterWorld = { db: Db; clock: { monotonicMs(): number } };
export type SharedRateLimiterOptions = {
  /** Tells processes apart. */
  holder: string;
  /** Stands in front of every key, to tell this limit from others. */
  prefix: string;
  /** Calls that are taken in advance of a key that is new, where most keys are never seen again; a quarter of them when left out. */
  initialPermits?: number;
  /** SQL of the database's clock, unless a test has another. */
  nowMs?: string;
  /** Keys that are remembered here; TRACKED_KEYS_MAX when left out. */
  keysMax?: number;
};

export interface SharedRateLimiter extends RateLimiter {
  /** Gives back calls that were taken and can no longer be made here, or all that were not made; of so many keys at most. */
  releaseUnused(which: "lapsed" | "all", keysMax: number): Promise<number>;
}

/** Calls that this process took together. Local times are of the clock that never runs backwards. */
type HeldLease = { untilMs: bigint; requestedAtMs: number; granted: number; callTimesMs: number[] };

type KeyState = {
  lease: HeldLease | undefined;
  pendingLease: Promise<void> | undefined;
  lastUsedAtMs: number;
  /** What the database said when it was last asked. */
  remaining: number;
  resetAtMs: number;
  /** Until then a refusal is repeated without asking. */
  refusedUntilMs: number;
};

/** A flood of refused calls asks the database once in so long. */
const DENIAL_CACHE_MS_MAX = 1_000;
/** Each asking either gets something or is refused, so a call never waits for more than its limit can be halved, many times over. */
const TRIES_MAX = 200;

/** A limit that all processes on one database share. `take` rejects as the database does, when it is asked and does not answer. */
export function createSharedRateLimiter(
  world: SharedRateLimiterWorld,
  options: SharedRateLimiterOptions,
): SharedRateLimiter {
  const { clock } = world;
  const { holder, prefix, initialPermits, nowMs: serverMs = serverClockMs, keysMax = TRACKED_KEYS_MAX } = options;
  const requestLease = createLeaseRequester(serverMs);
  // A key moves to the end whenever it is used, so that the front is the longest unused one.
  const keyStates = new Map<string, KeyState>();
  // Keys with calls in hand, in the order in which these were taken.
  const leasedKeys = new Map<string, KeyState>();

  function touchKey(key: string, nowMs: number): KeyState {
    const holding = keyStates.get(key) ?? createKeyState(nowMs);
    holding.lastUsedAtMs = nowMs;
    keyStates.delete(key);
    keyStates.set(key, holding);
    evictIdleKeys(nowMs);
    return holding;
  }

  function evictIdleKeys(nowMs: number): void {
    let looked = 0;
    for (const [key, holding] of keyStates) {
      const isOver = holding.lastUsedAtMs <= nowMs - WINDOW_MS - LEASE_MS;
      if (looked >= EVICTIONS_PER_CALL_MAX || (!isOver && keyStates.size <= keysMax)) return;
      keyStates.delete(key);
      leasedKeys.delete(key);
      looked += 1;
    }
  }

  async function renewLease(key: string, limit: number, holding: KeyState): Promise<void> {
    const requestedAtMs = clock.monotonicMs();
    const report = createLeaseReport(holding.lease, requestedAtMs);
    holding.lease = undefined;
    leasedKeys.delete(key);
    const lease = await requestLease(world.db, { key: prefix + key, limit, holder, report, initialPermits });
    const nowMs = clock.monotonicMs();
    const granted = lease?.granted ?? 0;
    holding.remaining = lease?.remaining ?? 0;
    holding.resetAtMs = nowMs + (lease?.resetMs ?? WINDOW_MS);
    if (lease === undefined || granted === 0) {
      holding.refusedUntilMs = Math.min(holding.resetAtMs, nowMs + DENIAL_CACHE_MS_MAX);
      return;
    }
    holding.lease = { untilMs: lease.untilMs, requestedAtMs, granted, callTimesMs: [] };
    leasedKeys.set(key, holding);
  }

  async function tryAcquire(key: string, limit: number): Promise<RateLimitResult> {
    const holding = touchKey(key, clock.monotonicMs());
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const taken = useLeasedPermit(holding, limit, clock.monotonicMs());
      if (taken !== undefined) return taken;
      holding.pendingLease ??= renewLease(key, limit, holding).finally(() => {
        holding.pendingLease = undefined;
      });
      await holding.pendingLease;
    }
    return denyCall(holding, limit, clock.monotonicMs());
  }

  async function releaseUnused(which: "lapsed" | "all", keysMaxPerRelease: number): Promise<number> {
    const isDue = (lease: HeldLease) => which === "all" || isExpired(lease, clock.monotonicMs());
    const unused = collectUnused(leasedKeys, { prefix, keysMax: keysMaxPerRelease, isDue });
    if (unused.length > 0) await releasePermits(world.db, unused);
    return unused.length;
  }

  return { tryAcquire, releaseUnused };
}

/** Takes the permits that were leased and not used out of `leasedKeys`, oldest lease first. */
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

/** Undefined when the database has to be asked. */
function useLeasedPermit(holding: KeyState, limit: number, nowMs: number): RateLimitResult | undefined {
  const { lease } = holding;
  if (lease !== undefined && lease.callTimesMs.length < lease.granted && !isExpired(lease, nowMs)) {
    lease.callTimesMs.push(nowMs);
    const remaining = holding.remaining + lease.granted - lease.callTimesMs.length;
    const ownResetAtMs = (lease.callTimesMs[0] ?? nowMs) + WINDOW_MS;
    // The database's word is as old as the lease: what was to leave the window first may have left it.
    const resetAtMs = holding.resetAtMs > nowMs ? Math.min(holding.resetAtMs, ownResetAtMs) : ownResetAtMs;
    return { isAllowed: true, limit, remaining, resetMs: Math.min(resetAtMs - nowMs, WINDOW_MS) };
  }
  return nowMs < holding.refusedUntilMs ? denyCall(holding, limit, nowMs) : undefined;
}

function denyCall({ resetAtMs }: KeyState, limit: number, nowMs: number): RateLimitResult {
  return { isAllowed: false, limit, remaining: 0, resetMs: Math.min(Math.max(0, resetAtMs - nowMs), WINDOW_MS) };
}

// The lease began when the database granted it, which is after it was asked.
function isExpired(held: HeldLease, nowMs: number): boolean {
  return nowMs - held.requestedAtMs >= LEASE_MS;
}

function createLeaseReport(held: HeldLease | undefined, askedAtMs: number): LeaseReport | undefined {
  if (held === undefined) return undefined;
  // Rounded down, so that no call is told to be longer ago than it is.
  const callAgesMs = held.callTimesMs.map((madeAtMs) => Math.floor(askedAtMs - madeAtMs));
  return { untilMs: held.untilMs, permits: held.granted, callAgesMs };
}
