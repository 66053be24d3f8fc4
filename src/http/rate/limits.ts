import { serverClockMs } from "../../db/serverClock.ts";
import type { World } from "../../world.ts";
import type { RateLimiter } from "./limiter.ts";
import { sharedLog } from "./sharedLog.ts";
import { slidingLog } from "./slidingLog.ts";
import { deleteUncounted } from "./store.ts";

/** Who has called how often. Each limiter has its own keys. */
export type Limits = {
  /** By account and operation. */
  readonly perOperation: RateLimiter;
  /** By account, operation and `{id}`. */
  readonly perIntent: RateLimiter;
  /** By the address of who presents what is no key. */
  readonly perGuesser: RateLimiter;
  /** What has to be done beside the calls, until `signal` aborts. It never rejects. */
  tend(signal: AbortSignal): Promise<void>;
};

type LimitsWorld = Pick<World, "db" | "clock" | "entropy" | "log">;

const TEND_EVERY_MS = 1_000;
/** Keys of which one statement gives back calls. */
const GIVE_BACK_KEYS_MAX = 500;
const DELETE_EVERY_MS = 60_000;
/** Keys removed by one statement, of which there are as many each minute as still find so many: more than can be new in that time. */
const DELETE_KEYS_MAX = 10_000;
const DELETES_MAX = 100;
const HOLDER_BYTES = 8;
/** A flood of wrong keys leaves a row for each of its networks, and a row is as long as what was taken: most of them guess once. */
const GUESSES_FIRST = 4;

/** Counted in memory where there can be but one process, and in common where there may be several. */
export function openLimits(world: LimitsWorld): Limits {
  return world.db.kind === "pglite" ? ownLimits(world) : sharedLimits(world);
}

function ownLimits({ clock }: LimitsWorld): Limits {
  const [perOperation, perIntent, perGuesser] = [slidingLog(clock), slidingLog(clock), slidingLog(clock)];
  return { perOperation, perIntent, perGuesser, tend: async () => {} };
}

function sharedLimits(world: LimitsWorld): Limits {
  const holder = Buffer.from(world.entropy.bytes(HOLDER_BYTES)).toString("base64url");
  const open = (prefix: string, options: { firstCount?: number } = {}) =>
    sharedLog(world, { holder, prefix, ...options });
  const perGuesser = open("guesser ", { firstCount: GUESSES_FIRST });
  const logs = { perOperation: open("operation "), perIntent: open("intent "), perGuesser };

  async function giveBack(which: "lapsed" | "all"): Promise<void> {
    await Promise.all(Object.values(logs).map((log) => log.giveBack(which, GIVE_BACK_KEYS_MAX)));
  }

  async function forgetKeys(signal: AbortSignal): Promise<void> {
    for (let deletes = 0; deletes < DELETES_MAX && !signal.aborted; deletes += 1) {
      if ((await deleteUncounted(world.db, serverClockMs, DELETE_KEYS_MAX)) < DELETE_KEYS_MAX) return;
    }
  }

  // Whatever fails here makes limits stricter for a minute, or a table longer, and is tried again.
  async function attempt(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => world.log.debug({ err: error }, "the limits could not be tended"));
  }

  async function tend(signal: AbortSignal): Promise<void> {
    for (let elapsedMs = 0; !signal.aborted; elapsedMs += TEND_EVERY_MS) {
      await world.clock.sleep(TEND_EVERY_MS, signal);
      await attempt(() => giveBack(signal.aborted ? "all" : "lapsed"));
      if (elapsedMs % DELETE_EVERY_MS === 0) await attempt(() => forgetKeys(signal));
    }
  }

  return { ...logs, tend };
}
