import type { Chain } from "../chain/chain.ts";
import { hintsTopic } from "../view/recordView.ts";
import { lookAtHints } from "../watch/lookAtHints.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Nothing but a payer who looks wakes it. */
const IDLE_MS = 600_000;

/** Looks at a chain where payers are looking. */
export function lookAtHintsLoop(world: World, chain: Chain): Loop {
  return {
    name: `look at hints of ${chain.caip2}`,
    topic: hintsTopic(chain.caip2),
    intervalMs: IDLE_MS,
    tick: (ending) => lookAtHints(world, chain, ending),
  };
}
