import type { Chain } from "../chain/chain.ts";
import { recheckSuspectBlocks, recheckTopic } from "../watch/reread/recheckSuspectBlocks.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Nothing but a doubt wakes it. */
const IDLE_MS = 600_000;

/** Asks again for blocks that were called empty against the word of their headers. */
export function recheckSuspectBlocksLoop(world: World, chain: Chain): Loop {
  return {
    name: `ask doubted blocks of ${chain.caip2}`,
    topic: recheckTopic(chain),
    intervalMs: IDLE_MS,
    tick: (ending) => recheckSuspectBlocks(world, chain, ending),
  };
}
