import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import type { HeadFeed, HeadListener } from "../../chain/headFeed.ts";
import { followedChain } from "../../watch/follow/followedChain.ts";
import { followQueuedHeads, enqueueHead } from "../../watch/follow/followHeads.ts";
import { headsTopic, viewing, watchTopic } from "../../watch/wakes.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Only heads wake this loop; the watch loop's polling finds any missed block. */
const IDLE_MS = 60_000;
/** The pause between two connections that both worked. */
const RECONNECT_MS = 1_000;
/** A connection that ends sooner, or brings no new head, counts as failed and is retried with backoff. */
const STABLE_CONNECTION_MS = 10_000;

/** Records blocks as soon as a feed announces them. */
export function followHeadsLoop(world: World, chain: Chain): Loop {
  return {
    name: `follow heads of ${chain.caip2}`,
    topic: headsTopic(chain),
    intervalMs: IDLE_MS,
    tick: async () => {
      await followQueuedHeads(world, chain);
      return false;
    },
  };
}

/** Listens to one feed. One tick lasts as long as its connection. */
export function listenToFeedLoop(world: World, chain: Chain, feed: HeadFeed): Loop {
  const { clock, log } = world;
  /** The highest block announced on this connection. */
  let highestHead = -1n;
  const listener: HeadListener = {
    // Blocks before the connection opened were not announced, so the watch loop has to poll.
    onOpen: () => world.wake.notify(watchTopic(chain)),
    onHead: (head) => {
      if (head.number > highestHead) highestHead = head.number;
      enqueueHead(world, chain, head);
    },
    onHeadNumber: (number) => {
      if (number > highestHead) highestHead = number;
      // A number shows no deposit. Polls are quick enough where nobody waits.
      if (viewing(world, chain).isViewed) world.wake.notify(watchTopic(chain));
    },
    highestKnown: () => followedChain(world, chain).cursor?.number,
  };
  return {
    name: `listen to ${feed.name} of ${chain.caip2}`,
    topic: `feed:${chain.caip2}:${feed.name}`,
    intervalMs: RECONNECT_MS,
    tick: async (ending = new AbortController().signal) => {
      const connectedAtMs = clock.monotonicMs();
      const previousHighestHead = highestHead;
      highestHead = -1n;
      const reason = await feed.follow(listener, ending);
      if (ending.aborted) return false;
      if (clock.monotonicMs() - connectedAtMs < STABLE_CONNECTION_MS)
        throw new ProviderFailed("unreachable", `the connection was too short: ${reason}`);
      if (highestHead <= previousHighestHead)
        throw new ProviderFailed("unreachable", `the connection brought no new head: ${reason}`);
      log.warn({ chain: chain.caip2, feed: feed.name, reason }, "websocket lost, reconnecting");
      return false;
    },
  };
}
