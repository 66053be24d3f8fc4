import type { Chain } from "../chain/chain.ts";
import { ProviderFailed } from "../chain/driver.ts";
import type { HeadFeed } from "../chain/headFeed.ts";
import { followNotedHeads, headsTopic, noteHead, watchTopic } from "../watch/followHeads.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Nothing but heads wakes it: what they do not tell is found by asking, at the chain's own interval. */
const IDLE_MS = 60_000;
/** Between two connections that both worked. */
const RECONNECT_MS = 1_000;
/** A connection that ended sooner has failed, and is tried again ever more slowly. */
const LASTED_MS = 10_000;

/** Records blocks as soon as they are told of. */
export function followHeadsLoop(world: World, chain: Chain): Loop {
  return {
    name: `follow heads of ${chain.caip2}`,
    topic: headsTopic(chain),
    intervalMs: IDLE_MS,
    tick: async () => {
      await followNotedHeads(world, chain);
      return false;
    },
  };
}

/** Listens to one feed; a tick lasts as long as its connection. */
export function listenToFeedLoop(world: World, chain: Chain, feed: HeadFeed): Loop {
  const { clock, log } = world;
  const listener = {
    // Blocks that came before it was listened to were told to nobody.
    onOpen: () => world.wake.notify(watchTopic(chain)),
    onHead: (head: Parameters<typeof noteHead>[2]) => noteHead(world, chain, head),
  };
  return {
    name: `listen to ${feed.name} of ${chain.caip2}`,
    topic: `feed:${chain.caip2}:${feed.name}`,
    intervalMs: RECONNECT_MS,
    tick: async (ending = new AbortController().signal) => {
      const beganAtMs = clock.monotonicMs();
      const reason = await feed.follow(listener, ending);
      if (ending.aborted) return false;
      if (clock.monotonicMs() - beganAtMs < LASTED_MS)
        throw new ProviderFailed("unreachable", `the connection did not last: ${reason}`);
      log.warn({ chain: chain.caip2, feed: feed.name, reason }, "a websocket was lost and is opened again");
      return false;
    },
  };
}
