import type { Chain } from "../../src/chain/chain.ts";
import { getChainMemory } from "../../src/watch/chainMemory.ts";
import { watchChain, type WatchOutcome } from "../../src/watch/follow/watchChain.ts";
import type { WatchWorld } from "../../src/watch/store/applySegment.ts";

/** A poll that reads finality, and final blocks a second time, as one long after the last. */
export function watchNow(world: WatchWorld, chain: Chain): Promise<WatchOutcome> {
  Object.assign(getChainMemory(world, chain), { finalityReadAtMs: -Infinity, rereadAtMs: -Infinity });
  return watchChain(world, chain);
}
