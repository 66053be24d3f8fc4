import type { Chain } from "../../chain/chain.ts";
import { recordPostponed } from "../../watch/reread/recordPostponed.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Without a row this is one statement that reads an index. */
const INTERVAL_MS = 2_000;

/** Records the dust that waited for other payments. */
export function recordPostponedLoop(world: World, chain: Chain): Loop {
  return {
    name: `record postponed of ${chain.caip2}`,
    topic: `postponed:${chain.caip2}`,
    intervalMs: INTERVAL_MS,
    tick: (ending) => recordPostponed(world, chain, ending),
  };
}
