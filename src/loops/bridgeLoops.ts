import { refreshFees } from "../bridge/fees.ts";
import { findBurns } from "../bridge/findBurns.ts";
import { reclaimRent } from "../bridge/rent/reclaimRent.ts";
import { receiveCrossings } from "../bridge/receiveCrossings.ts";
import { trackCrossings } from "../bridge/trackCrossings.ts";
import type { BridgeService } from "../chain/bridge.ts";
import type { Chain } from "../chain/chain.ts";
import { suspendMints } from "../settlement/crossing/suspendMints.ts";
import type { World } from "../world.ts";
import { planTopic, receiveTopic, sendTopic, TRACK_TOPIC } from "./chain/topics.ts";
import type { Loop } from "./loop.ts";

/** The budget of calls allows a round a second. */
const TRACK_INTERVAL_MS = 1_000;
const RECEIVE_INTERVAL_MS = 2_000;
const FIND_INTERVAL_MS = 5_000;
/** Ninety ways between ten chains are asked about in five minutes. */
const FEES_INTERVAL_MS = 3_000;
const RENT_INTERVAL_MS = 600_000;

/** Asks the bridge's service which burns are proven, those of all chains together. */
export function trackCrossingsLoop(world: World, service: BridgeService): Loop {
  return {
    name: "track crossings",
    topic: TRACK_TOPIC,
    intervalMs: TRACK_INTERVAL_MS,
    tick: async () => {
      const asked = await trackCrossings(world, service);
      if (asked > 0) for (const chain of world.chains.values()) world.wake.notify(receiveTopic(chain));
      return false;
    },
  };
}

/** Receives proven burns on one settle chain, and settles with them. */
export function receiveCrossingsLoop(world: World, chain: Chain): Loop {
  return {
    name: `receive crossings ${chain.caip2}`,
    topic: receiveTopic(chain),
    intervalMs: RECEIVE_INTERVAL_MS,
    tick: async (signal) => {
      const signed = await receiveCrossings(world, chain, signal);
      if (signed > 0) world.wake.notify(sendTopic(chain));
      return false;
    },
  };
}

/**
 * Looks for burns on one chain of which only the mints are known, and settles what the chain's own inboxes hold for
 * others.
 */
export function findBurnsLoop(world: World, chain: Chain): Loop {
  return {
    name: `find burns ${chain.caip2}`,
    topic: `burns:${chain.caip2}`,
    intervalMs: FIND_INTERVAL_MS,
    tick: async () => {
      if ((await suspendMints(world, chain.caip2)) > 0) world.wake.notify(planTopic(chain));
      await findBurns(world, chain);
      return false;
    },
  };
}

/** Asks for the rent of burns' messages, on a chain that locks some. */
export function reclaimRentLoop(world: World, chain: Chain): Loop {
  return {
    name: `reclaim rent ${chain.caip2}`,
    topic: `rent:${chain.caip2}`,
    intervalMs: RENT_INTERVAL_MS,
    tick: async () => {
      if ((await reclaimRent(world, chain)) > 0) world.wake.notify(sendTopic(chain));
      return false;
    },
  };
}

/**
 * Keeps the bridge's fees known while nothing crosses, so that alarms about them and about the service come before a
 * deposit does.
 */
export function refreshFeesLoop(world: World): Loop {
  return {
    name: "bridge fees",
    topic: "bridge fees",
    intervalMs: FEES_INTERVAL_MS,
    tick: async () => {
      await refreshFees(world);
      return false;
    },
  };
}
