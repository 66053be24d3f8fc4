import type { Chain } from "../../chain/chain.ts";
import { recheckSuspectBlocks, recheckTopic } from "../../watch/reread/recheckSuspectBlocks.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Only a new suspect block wakes this loop. */
const IDLE_MS = 600_000;

/** Reads blocks again that came without logs although their headers announce some. */
export function recheckSuspectBlocksLoop(world: World, chain: Chain): Loop {
  return {
    name: `recheck suspect blocks of ${chain.caip2}`,
    topic: recheckTopic(chain),
    intervalMs: IDLE_MS,
    tick: (ending) => recheckSuspectBlocks(world, chain, ending),
  };
}
