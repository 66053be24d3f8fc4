import type { Chain } from "../chain/chain.ts";
import { viewHintsTopic } from "../view/registerView.ts";
import { scanHintedInboxes } from "../watch/reread/scanHintedInboxes.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Nothing but a payer who looks wakes it. */
const IDLE_MS = 600_000;

/** Looks at a chain where payers are looking. */
export function scanHintedInboxesLoop(world: World, chain: Chain): Loop {
  return {
    name: `look at hints of ${chain.caip2}`,
    topic: viewHintsTopic(chain.caip2),
    intervalMs: IDLE_MS,
    tick: (ending) => scanHintedInboxes(world, chain, ending),
  };
}
