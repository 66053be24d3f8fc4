import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed, type ChainReader } from "../../chain/reader.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

// Near the head a provider's answers fail to fit for seconds: a node behind the same name lags by a block, or switches
// its branch. That raises no alarm. A provider whose answers never fit stops the recording where it is the only one, so
// the operator must learn its name.

/**
 * Answers that do not fit for this long are logged; a contradiction is logged at once. A provider is consistent again after
 * as long.
 */
const INCONSISTENT_MS_MIN = 60_000;

/** Since when a provider's answers do not fit, and when they last did not, on the monotonic clock. */
type Inconsistency = { sinceMs: number; lastMs: number; isLogged: boolean };

/** By provider and by what it reads. */
const inconsistentProviders = perChain(() => new Map<string, Inconsistency>());

/** `reading`: what `work` reads. A provider may be consistent for one reading and not for another. */
type TrackedWork<T> = {
  reading: "new blocks" | "ranges" | "final blocks";
  work: (reader: ChainReader) => Promise<T>;
  isConclusive?: (answer: T) => boolean;
};
type TrackedProvider = { provider: string; reading: TrackedWork<unknown>["reading"] };
type TrackedWorld = Pick<WatchWorld, "clock" | "memory" | "log">;

/**
 * Runs `work` with a provider, and logs once when the provider's answers contradict themselves, and once when they fit
 * again. `isConclusive` says whether an answer shows that they fit; by default each does.
 */
export function trackConsistency<T>(
  world: TrackedWorld,
  chain: Chain,
  { reading, work, isConclusive = () => true }: TrackedWork<T>,
): (reader: ChainReader) => Promise<T> {
  return async (reader) => {
    try {
      const answer = await work(reader);
      if (isConclusive(answer)) clearInconsistency(world, chain, { provider: reader.name, reading });
      return answer;
    } catch (error) {
      if (error instanceof ProviderFailed) recordInconsistency(world, chain, { provider: reader.name, reading, error });
      throw error;
    }
  };
}

function recordInconsistency(
  world: TrackedWorld,
  chain: Chain,
  { provider, reading, error }: TrackedProvider & { error: ProviderFailed },
): void {
  if (error.kind !== "unknown_block" && error.kind !== "contradictory") return;
  const providers = inconsistentProviders(world, chain);
  const nowMs = world.clock.monotonicMs();
  const inconsistent = providers.get(keyOf({ provider, reading })) ?? {
    sinceMs: nowMs,
    lastMs: nowMs,
    isLogged: false,
  };
  inconsistent.lastMs = nowMs;
  providers.set(keyOf({ provider, reading }), inconsistent);
  const isAlarming = error.kind === "contradictory" || nowMs - inconsistent.sinceMs >= INCONSISTENT_MS_MIN;
  if (!isAlarming || inconsistent.isLogged) return;
  inconsistent.isLogged = true;
  raiseAlarm(
    world.log,
    { alarm: "provider_inconsistent", chain: chain.caip2, provider, reading, err: error },
    "a provider's answers contradict each other; they are not recorded",
  );
}

function clearInconsistency(world: TrackedWorld, chain: Chain, { provider, reading }: TrackedProvider): void {
  const providers = inconsistentProviders(world, chain);
  const key = keyOf({ provider, reading });
  const inconsistent = providers.get(key);
  if (inconsistent === undefined) return;
  // A provider that contradicts itself now and then keeps its one log line.
  if (inconsistent.isLogged && world.clock.monotonicMs() - inconsistent.lastMs < INCONSISTENT_MS_MIN) return;
  providers.delete(key);
  if (inconsistent.isLogged)
    world.log.info({ chain: chain.caip2, provider, reading }, "a provider's answers fit together again");
}

function keyOf({ provider, reading }: TrackedProvider): string {
  return `${provider} ${reading}`;
}
