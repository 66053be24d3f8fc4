import { serverClockMs } from "../../db/serverClock.ts";
import type { World } from "../../world.ts";
import type { RateLimiter } from "./rateLimiter.ts";
import { createSharedRateLimiter } from "./sharedRateLimiter.ts";
import { createLightRateLimiter } from "./lightRateLimiter.ts";
import { createLocalRateLimiter } from "./localRateLimiter.ts";
import { purgeExpiredKeys } from "./leaseStore.ts";

/** The rate limiters. Each has its own keys. */
export type RateLimiters = {
  /** By account and operation. */
  readonly perOperation: RateLimiter;
  /** By account, operation and `{id}`. */
  readonly perIntent: RateLimiter;
  /** By client network, for requests without a valid key. */
  readonly perUnauthenticatedIp: RateLimiter;
  /** By session or client network, for the routes of the checkout page, which need no key. */
  readonly perVisitor: RateLimiter;
  /** Runs maintenance in the background until `signal` aborts. It never rejects. */
  runMaintenance(signal: AbortSignal): Promise<void>;
};

type RateLimitersWorld = Pick<World, "db" | "clock" | "entropy" | "log">;

const MAINTENANCE_INTERVAL_MS = 1_000;
/** Keys whose permits one statement releases. */
const RELEASE_KEYS_MAX = 500;
const PURGE_INTERVAL_MS = 60_000;
/** Keys removed by one statement. Each minute runs statements until one finds fewer, so removal outpaces new keys. */
const PURGE_BATCH_KEYS_MAX = 10_000;
const PURGE_BATCHES_MAX = 100;
const HOLDER_BYTES = 8;
/**
 * The first lease per network is small: a flood of wrong keys creates a row per network, and most networks guess once.
 */
const UNAUTHENTICATED_LEASE_INITIAL = 4;

/** Creates limiters in memory for the embedded database, which has one process, and shared ones for PostgreSQL. */
export function createRateLimiters(world: RateLimitersWorld): RateLimiters {
  return world.db.kind === "pglite" ? createLocalLimiterSet(world) : createSharedLimiterSet(world);
}

function createLocalLimiterSet({ clock }: RateLimitersWorld): RateLimiters {
  return {
    perOperation: createLocalRateLimiter(clock),
    perIntent: createLocalRateLimiter(clock),
    perUnauthenticatedIp: createLocalRateLimiter(clock),
    perVisitor: createLocalRateLimiter(clock),
    runMaintenance: async () => {},
  };
}

function createSharedLimiterSet(world: RateLimitersWorld): RateLimiters {
  const holder = Buffer.from(world.entropy.bytes(HOLDER_BYTES)).toString("base64url");
  const createLimiter = (prefix: string, options: { initialPermits?: number } = {}) =>
    createSharedRateLimiter(world, { holder, prefix, ...options });
  const perUnauthenticatedIp = createLimiter("unauthenticated ", { initialPermits: UNAUTHENTICATED_LEASE_INITIAL });
  const limiters = {
    perOperation: createLimiter("operation "),
    perIntent: createLimiter("intent "),
    perUnauthenticatedIp,
  };
  const visitors = createLimiter("visitor ");

  async function releaseUnused(which: "lapsed" | "all"): Promise<void> {
    await Promise.all([...Object.values(limiters), visitors].map((log) => log.releaseUnused(which, RELEASE_KEYS_MAX)));
  }

  async function purgeInBatches(signal: AbortSignal): Promise<void> {
    for (let deletes = 0; deletes < PURGE_BATCHES_MAX && !signal.aborted; deletes += 1) {
      if ((await purgeExpiredKeys(world.db, serverClockMs, PURGE_BATCH_KEYS_MAX)) < PURGE_BATCH_KEYS_MAX) return;
    }
  }

  // A failure only makes limits stricter for a minute, or leaves old rows, and the next run retries.
  async function tryAndLog(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => world.log.debug({ err: error }, "rate limit maintenance failed"));
  }

  async function runMaintenance(signal: AbortSignal): Promise<void> {
    for (let elapsedMs = 0; !signal.aborted; elapsedMs += MAINTENANCE_INTERVAL_MS) {
      await world.clock.sleep(MAINTENANCE_INTERVAL_MS, signal);
      await tryAndLog(() => releaseUnused(signal.aborted ? "all" : "lapsed"));
      if (elapsedMs % PURGE_INTERVAL_MS === 0) await tryAndLog(() => purgeInBatches(signal));
    }
  }

  return { ...limiters, perVisitor: createLightRateLimiter(world.clock, visitors), runMaintenance };
}
