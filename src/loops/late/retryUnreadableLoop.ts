import type { Chain } from "../../chain/chain.ts";
import { retryUnreadable } from "../../watch/unreadable/retryUnreadable.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** The first retry is due after a minute. Without a row this is one statement that reads an index. */
const INTERVAL_MS = 30_000;

/** Tries again what no provider's answer could be parsed for. */
export function retryUnreadableLoop(world: World, chain: Chain): Loop {
  return {
    name: `retry unreadable of ${chain.caip2}`,
    topic: `unreadable:${chain.caip2}`,
    intervalMs: INTERVAL_MS,
    tick: async () => {
      await retryUnreadable(world, chain);
      return false;
    },
  };
}
