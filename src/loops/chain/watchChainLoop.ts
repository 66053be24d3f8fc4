import type { Chain } from "../../chain/chain.ts";
import { findWatchedChain } from "../../catalog/catalog.ts";
import { verifyChain } from "../../chain/verifyChain.ts";
import { viewedAccountsTopic, watchTopic } from "../../watch/wakes.ts";
import { watchChain } from "../../watch/follow/watchChain.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Polls the head at the chain's own interval. A signal of something new wakes it sooner. */
export function watchChainLoop(world: World, chain: Chain): Loop {
  // A chain that was unreachable at start is verified against the configuration before the first read.
  const config = findWatchedChain(world.catalog, chain.caip2);
  let isVerified = config === undefined;
  return {
    name: `watch ${chain.caip2}`,
    topic: watchTopic(chain),
    intervalMs: config?.pollMs ?? 1_000,
    tick: async () => {
      if (config && !isVerified) isVerified = (await verifyChain(config, chain)) === "verified";
      const { isBehind } = await watchChain(world, chain);
      // What a new block changed may be looked at.
      if (chain.detection === "balances" && !isBehind) world.wake.notify(viewedAccountsTopic(chain));
      return isBehind;
    },
  };
}
