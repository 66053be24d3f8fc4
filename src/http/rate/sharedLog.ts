import type { Db } from "../../db/database.ts";
import { serverClockMs } from "../../db/serverClock.ts";
import { FORGET_KEYS_MAX, KEYS_MAX, WINDOW_MS, type RateLimiter, type Taken } from "./limiter.ts";
import { handBack, LEASE_MS, leaseTaker, type HandBack, type Settled } from "./store.ts";

// `limit` calls in any 60 seconds, of all processes together, without a statement for each call. A process takes calls in advance
// and makes them by itself. The database counts what was taken as if it were made at the last possible moment, until it hears better.
// So whatever is lost on the way (an answer, a process, a key that is forgotten here) lets fewer calls through for a minute, never more.
//
// Only durations are compared across processes: how long ago a call was made, by the clock of its process that never runs backwards,
// before the statement that tells it. What the clocks say the time is does not matter.

export type SharedLogWorld = { db: Db; clock: { monotonicMs(): number } };
export type SharedLogOptions = {
  /** Tells processes apart. */
  holder: string;
  /** Stands in front of every key, to tell this limit from others. */
  prefix: string;
  /** Calls that are taken in advance of a key that is new, where most keys are never seen again; a quarter of them when left out. */
  firstCount?: number;
  /** SQL of the database's clock, unless a test has another. */
  nowMs?: string;
  /** Keys that are remembered here; KEYS_MAX when left out. */
  keysMax?: number;
};

export interface SharedLog extends RateLimiter {
  /** Gives back calls that were taken and can no longer be made here, or all that were not made; of so many keys at most. */
  giveBack(which: "lapsed" | "all", keysMax: number): Promise<number>;
}

/** Calls that this process took together. Local times are of the clock that never runs backwards. */
type Held = { untilMs: bigint; askedAtMs: number; granted: number; madeAtMs: number[] };

type Holding = {
  held: Held | undefined;
  taking: Promise<void> | undefined;
  usedAtMs: number;
  /** What the database said when it was last asked. */
  remaining: number;
  resetAtMs: number;
  /** Until then a refusal is repeated without asking. */
  refusedUntilMs: number;
};

/** A flood of refused calls asks the database once in so long. */
const REFUSED_MS_MAX = 1_000;
/** Each asking either gets something or is refused, so a call never waits for more than its limit can be halved, many times over. */
const TRIES_MAX = 200;

/** A limit that all processes on one database share. `take` rejects as the database does, when it is asked and does not answer. */
export function sharedLog(world: SharedLogWorld, options: SharedLogOptions): SharedLog {
  const { clock } = world;
  const { holder, prefix, firstCount, nowMs: serverMs = serverClockMs, keysMax = KEYS_MAX } = options;
  const takeLease = leaseTaker(serverMs);
  // A key moves to the end whenever it is used, so that the front is the longest unused one.
  const holdings = new Map<string, Holding>();
  // Keys with calls in hand, in the order in which these were taken.
  const inHand = new Map<string, Holding>();

  function holdingOf(key: string, nowMs: number): Holding {
    const holding = holdings.get(key) ?? newHolding(nowMs);
    holding.usedAtMs = nowMs;
    holdings.delete(key);
    holdings.set(key, holding);
    forget(nowMs);
    return holding;
  }

  function forget(nowMs: number): void {
    let looked = 0;
    for (const [key, holding] of holdings) {
      const isOver = holding.usedAtMs <= nowMs - WINDOW_MS - LEASE_MS;
      if (looked >= FORGET_KEYS_MAX || (!isOver && holdings.size <= keysMax)) return;
      holdings.delete(key);
      inHand.delete(key);
      looked += 1;
    }
  }

  async function takeMore(key: string, limit: number, holding: Holding): Promise<void> {
    const askedAtMs = clock.monotonicMs();
    const settled = settledOf(holding.held, askedAtMs);
    holding.held = undefined;
    inHand.delete(key);
    const lease = await takeLease(world.db, { key: prefix + key, limit, holder, settled, firstCount });
    const nowMs = clock.monotonicMs();
    const granted = lease?.granted ?? 0;
    holding.remaining = lease?.remaining ?? 0;
    holding.resetAtMs = nowMs + (lease?.resetMs ?? WINDOW_MS);
    if (lease === undefined || granted === 0) {
      holding.refusedUntilMs = Math.min(holding.resetAtMs, nowMs + REFUSED_MS_MAX);
      return;
    }
    holding.held = { untilMs: lease.untilMs, askedAtMs, granted, madeAtMs: [] };
    inHand.set(key, holding);
  }

  async function take(key: string, limit: number): Promise<Taken> {
    const holding = holdingOf(key, clock.monotonicMs());
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const taken = takeInHand(holding, limit, clock.monotonicMs());
      if (taken !== undefined) return taken;
      holding.taking ??= takeMore(key, limit, holding).finally(() => {
        holding.taking = undefined;
      });
      await holding.taking;
    }
    return refusal(holding, limit, clock.monotonicMs());
  }

  async function giveBack(which: "lapsed" | "all", backMax: number): Promise<number> {
    const nowMs = clock.monotonicMs();
    const unused: HandBack[] = [];
    for (const [key, { held }] of inHand) {
      if (unused.length >= backMax || held === undefined) break;
      if (which === "lapsed" && !isLapsed(held, nowMs)) break;
      inHand.delete(key);
      const count = held.granted - held.madeAtMs.length;
      // Before the database is told: should that fail, these count for a minute without having been made.
      held.granted = held.madeAtMs.length;
      if (count > 0) unused.push({ key: prefix + key, untilMs: held.untilMs, count });
    }
    if (unused.length > 0) await handBack(world.db, unused);
    return unused.length;
  }

  return { take, giveBack };
}

function newHolding(nowMs: number): Holding {
  return { held: undefined, taking: undefined, usedAtMs: nowMs, remaining: 0, resetAtMs: 0, refusedUntilMs: 0 };
}

/** Undefined when the database has to be asked. */
function takeInHand(holding: Holding, limit: number, nowMs: number): Taken | undefined {
  const { held } = holding;
  if (held !== undefined && held.madeAtMs.length < held.granted && !isLapsed(held, nowMs)) {
    held.madeAtMs.push(nowMs);
    const remaining = holding.remaining + held.granted - held.madeAtMs.length;
    const ownResetAtMs = (held.madeAtMs[0] ?? nowMs) + WINDOW_MS;
    // The database's word is as old as the lease: what was to leave the window first may have left it.
    const resetAtMs = holding.resetAtMs > nowMs ? Math.min(holding.resetAtMs, ownResetAtMs) : ownResetAtMs;
    return { isAllowed: true, limit, remaining, resetMs: Math.min(resetAtMs - nowMs, WINDOW_MS) };
  }
  return nowMs < holding.refusedUntilMs ? refusal(holding, limit, nowMs) : undefined;
}

function refusal({ resetAtMs }: Holding, limit: number, nowMs: number): Taken {
  return { isAllowed: false, limit, remaining: 0, resetMs: Math.min(Math.max(0, resetAtMs - nowMs), WINDOW_MS) };
}

// The lease began when the database granted it, which is after it was asked.
function isLapsed(held: Held, nowMs: number): boolean {
  return nowMs - held.askedAtMs >= LEASE_MS;
}

function settledOf(held: Held | undefined, askedAtMs: number): Settled | undefined {
  if (held === undefined) return undefined;
  // Rounded down, so that no call is told to be longer ago than it is.
  const agesMs = held.madeAtMs.map((madeAtMs) => Math.floor(askedAtMs - madeAtMs));
  return { untilMs: held.untilMs, count: held.granted, agesMs };
}
