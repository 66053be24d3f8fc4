import type { Chain } from "../chain/chain.ts";
import { ProviderFailed } from "../chain/driver.ts";
import type { HeadFeed, HeadListener } from "../chain/headFeed.ts";
import { followNotedHeads, headsTopic, noteHead, watchTopic } from "../watch/followHeads.ts";
import { memoryOf } from "../watch/memory.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Nothing but heads wakes it: what they do not tell is found by asking, at the chain's own interval. */
const IDLE_MS = 60_000;
/** Between two connections that both worked. */
const RECONNECT_MS = 1_000;
/** A connection that ended sooner, or told of nothing new, has failed, and is tried again ever more slowly. */
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
  /** The highest block that the connection has told of. */
  let told = -1n;
  const listener: HeadListener = {
    // Blocks that came before it was listened to were told to nobody.
    onOpen: () => world.wake.notify(watchTopic(chain)),
    onHead: (head) => {
      if (head.number > told) told = head.number;
      noteHead(world, chain, head);
    },
    reached: () => memoryOf(chain, clock).cursor?.number,
  };
  return {
    name: `listen to ${feed.name} of ${chain.caip2}`,
    topic: `feed:${chain.caip2}:${feed.name}`,
    intervalMs: RECONNECT_MS,
    tick: async (ending = new AbortController().signal) => {
      const beganAtMs = clock.monotonicMs();
      const toldBefore = told;
      told = -1n;
      const reason = await feed.follow(listener, ending);
      if (ending.aborted) return false;
      if (clock.monotonicMs() - beganAtMs < LASTED_MS)
        throw new ProviderFailed("unreachable", `the connection did not last: ${reason}`);
      if (told <= toldBefore)
        throw new ProviderFailed("unreachable", `the connection has told of nothing new: ${reason}`);
      log.warn({ chain: chain.caip2, feed: feed.name, reason }, "a websocket was lost and is opened again");
      return false;
    },
  };
}
