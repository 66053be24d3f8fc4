import type { Chain } from "../../chain/chain.ts";
import { hasRole } from "../../config/operate/roles.ts";
import { viewHintsTopic } from "../../view/registerView.ts";
import { scanHintedInboxes } from "../../watch/reread/scanHintedInboxes.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** A payer who opens a checkout of this process, and a provider that calls it, wake the loop. */
const IDLE_MS = 600_000;
/** In a process without requests nothing wakes it: other processes write the hints. */
const SEPARATE_MS = 1_000;

/** Scans the inboxes that payers are looking at. */
export function scanHintedInboxesLoop(world: World, chain: Chain): Loop {
  return {
    name: `scan hinted inboxes of ${chain.caip2}`,
    topic: viewHintsTopic(chain.caip2),
    intervalMs: hasRole(world.config, "api") ? IDLE_MS : SEPARATE_MS,
    tick: (ending) => scanHintedInboxes(world, chain, ending),
  };
}
