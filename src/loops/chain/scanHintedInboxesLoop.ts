import type { Chain } from "../../chain/chain.ts";
import { viewHintsTopic } from "../../view/registerView.ts";
import { scanHintedInboxes } from "../../watch/reread/scanHintedInboxes.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Only a payer who opens a checkout wakes this loop. */
const IDLE_MS = 600_000;

/** Scans the inboxes that payers are looking at. */
export function scanHintedInboxesLoop(world: World, chain: Chain): Loop {
  return {
    name: `scan hinted inboxes of ${chain.caip2}`,
    topic: viewHintsTopic(chain.caip2),
    intervalMs: IDLE_MS,
    tick: (ending) => scanHintedInboxes(world, chain, ending),
  };
}
