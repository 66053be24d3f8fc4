import type { Chain } from "../../src/chain/chain.ts";
import { lastFinality } from "../../src/watch/follow/confirmFinality.ts";
import { lastReread } from "../../src/watch/reread/rereadFinal.ts";
import { watchChain, type WatchOutcome } from "../../src/watch/follow/watchChain.ts";
import type { WatchWorld } from "../../src/watch/watchWorld.ts";

/** A poll that reads finality, and final blocks a second time, as one long after the last. */
export function watchNow(world: WatchWorld, chain: Chain): Promise<WatchOutcome> {
  lastFinality(world, chain).readAtMs = -Infinity;
  lastReread(world, chain).atMs = -Infinity;
  return watchChain(world, chain);
}
