import type { Chain } from "../chain/chain.ts";
import { findChain } from "../catalog/catalog.ts";
import { watchChain } from "../watch/watchChain.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Asks for the head at the chain's own interval; a view hint or a webhook may wake it sooner. */
export function watchChainLoop(world: World, chain: Chain): Loop {
  return {
    name: `watch ${chain.caip2}`,
    topic: `watch:${chain.caip2}`,
    intervalMs: findChain(world.catalog, chain.caip2)?.pollMs ?? 1_000,
    tick: async () => {
      const { isBehind } = await watchChain(world, chain);
      return isBehind;
    },
  };
}
