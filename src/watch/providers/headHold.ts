import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { WatchWorld } from "../watchWorld.ts";

// While a provider disagrees with the recorded chain, pushed heads are ignored: reconcileCursor resolves the disagreement at
// poll intervals. That costs the latency advantage of websockets, so it is logged.

/** A provider's disagreement with the cursor. */
export type Disagreement = {
  /** When it started, and the provider's head then. */
  sinceMs: number;
  sinceNumber: bigint;
  /** The provider's head, and when it last advanced. */
  headNumber: bigint;
  movedAtMs: number;
  /** Whether the provider only stands still, far behind. */
  isStuck: boolean;
};

/** The last comparison of the providers with the cursor. */
export const comparedProviders = perChain((clock) => ({
  /** When it was, on the monotonic clock. */
  atMs: clock.monotonicMs(),
  /** Whether more than one provider answered. */
  hasMultipleReplies: false,
  disagreements: new Map() as ReadonlyMap<string, Disagreement>,
  /** Whether it is logged that pushed heads are ignored because of them. */
  isHoldLogged: false,
  /** Whether the dispute is logged. */
  isDisputeLogged: false,
}));
export type ComparedProviders = ReturnType<typeof comparedProviders>;

/** The providers whose disagreement stops pushed heads. A stuck provider does not count. */
export function disagreeingProviders({ disagreements }: Pick<ComparedProviders, "disagreements">): string[] {
  return [...disagreements].flatMap(([provider, { isStuck }]) => (isStuck ? [] : [provider]));
}

/**
 * Logs the start once, when a disagreement lasts longer than one comparison, since short ones are common near the head.
 * Logs the end once.
 */
export function logHeadHold(world: Pick<WatchWorld, "clock" | "log" | "memory">, chain: Chain, nowMs: number): void {
  const compared = comparedProviders(world, chain);
  const disagreeing = disagreeingProviders(compared);
  const isLasting = disagreeing.some((provider) => (compared.disagreements.get(provider)?.sinceMs ?? nowMs) < nowMs);
  const facts = { chain: chain.caip2, providers: disagreeing };
  if (isLasting && !compared.isHoldLogged) {
    world.log.warn(
      facts,
      "a provider objects to the recorded chain; pushed heads are ignored and blocks found by polling",
    );
    compared.isHoldLogged = true;
  }
  if (disagreeing.length > 0 || !compared.isHoldLogged) return;
  const stuck = [...compared.disagreements.keys()];
  world.log.warn({ ...facts, stuck }, "no provider objects any more, or it is stuck; pushed heads are followed again");
  compared.isHoldLogged = false;
}
