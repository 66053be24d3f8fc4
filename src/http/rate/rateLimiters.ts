import { serverClockMs } from "../../db/serverClock.ts";
import type { World } from "../../world.ts";
import type { RateLimiter } from "./rateLimiter.ts";
import { createSharedRateLimiter } from "./sharedRateLimiter.ts";
import { createLocalRateLimiter } from "./localRateLimiter.ts";
import { purgeExpiredKeys } from "./leaseStore.ts";

/** Who has called how often. Each limiter has its own keys. */
export type RateLimiters = {
  /** By account and operation. */
  readonly perOperation: RateLimiter;
  /** By account, operation and `{id}`. */
  readonly perIntent: RateLimiter;
  /** By the address of who presents what is no key. */
  readonly perUnauthenticatedIp: RateLimiter;
  /** What has to be done beside the calls, until `signal` aborts. It never rejects. */
  runMaintenance(signal: AbortSignal): Promise<void>;
};

type RateLimitersWorld = Pick<World, "db" | "clock" | "entropy" | "log">;

const MAINTENANCE_INTERVAL_MS = 1_000;
/** Keys of which one statement gives back calls. */
const RELEASE_KEYS_MAX = 500;
const PURGE_INTERVAL_MS = 60_000;
/** Keys removed by one statement, of which there are as many each minute as still find so many: more than can be new in that time. */
const PURGE_BATCH_KEYS_MAX = 10_000;
const PURGE_BATCHES_MAX = 100;
const HOLDER_BYTES = 8;
/** A flood of wrong keys leaves a row for each of its networks, and a row is as long as what was taken: most of them guess once. */
const UNAUTHENTICATED_LEASE_INITIAL = 4;

/** Counted in memory where there can be but one process, and in common where there may be several. */
export function createRateLimiters(world: RateLimitersWorld): RateLimiters {
  return world.db.kind === "pglite" ? createLocalLimiterSet(world) : createSharedLimiterSet(world);
}

function createLocalLimiterSet({ clock }: RateLimitersWorld): RateLimiters {
  const [perOperation, perIntent, perUnauthenticatedIp] = [
    createLocalRateLimiter(clock),
    createLocalRateLimiter(clock),
    createLocalRateLimiter(clock),
  ];
  return { perOperation, perIntent, perUnauthenticatedIp, runMaintenance: async () => {} };
}

function createSharedLimiterSet(world: RateLimitersWorld): RateLimiters {
  const holder = Buffer.from(world.entropy.bytes(HOLDER_BYTES)).toString("base64url");
  const createLimiter = (prefix: string, options: { initialPermits?: number } = {}) =>
    createSharedRateLimiter(world, { holder, prefix, ...options });
  const perUnauthenticatedIp = createLimiter("guesser ", { initialPermits: UNAUTHENTICATED_LEASE_INITIAL });
  const limiters = {
    perOperation: createLimiter("operation "),
    perIntent: createLimiter("intent "),
    perUnauthenticatedIp,
  };

  async function releaseUnused(which: "lapsed" | "all"): Promise<void> {
    await Promise.all(Object.values(limiters).map((log) => log.releaseUnused(which, RELEASE_KEYS_MAX)));
  }

  async function purgeInBatches(signal: AbortSignal): Promise<void> {
    for (let deletes = 0; deletes < PURGE_BATCHES_MAX && !signal.aborted; deletes += 1) {
      if ((await purgeExpiredKeys(world.db, serverClockMs, PURGE_BATCH_KEYS_MAX)) < PURGE_BATCH_KEYS_MAX) return;
    }
  }

  // Whatever fails here makes limits stricter for a minute, or a table longer, and is tried again.
  async function tryAndLog(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => world.log.debug({ err: error }, "the limits could not be tended"));
  }

  async function runMaintenance(signal: AbortSignal): Promise<void> {
    for (let elapsedMs = 0; !signal.aborted; elapsedMs += MAINTENANCE_INTERVAL_MS) {
      await world.clock.sleep(MAINTENANCE_INTERVAL_MS, signal);
      await tryAndLog(() => releaseUnused(signal.aborted ? "all" : "lapsed"));
      if (elapsedMs % PURGE_INTERVAL_MS === 0) await tryAndLog(() => purgeInBatches(signal));
    }
  }

  return { ...limiters, runMaintenance };
}
