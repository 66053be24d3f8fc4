import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { sweepAgreementsTopic } from "../../settlement/agreement/openAgreements.ts";
import { verifySweeps } from "../../settlement/agreement/verifySweeps.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

const INTERVAL_MS = 1_000;
/** Without an agreement rule, only verifications from an earlier configuration remain. */
const INTERVAL_IDLE_MS = 60_000;

/** A separate loop, so that a hanging provider does not delay the settlements that need no agreement. */
export function verifySweepsLoop(world: World, chain: Chain): Loop {
  const requiresAgreement = findWatchedChain(world.catalog, chain.caip2)?.agreement !== undefined;
  return {
    name: `sweep agreements ${chain.caip2}`,
    topic: sweepAgreementsTopic(chain.caip2),
    intervalMs: requiresAgreement ? INTERVAL_MS : INTERVAL_IDLE_MS,
    tick: async () => {
      const { asked, isDone } = await verifySweeps(world, chain);
      // A crossing may land with an agreed sweep.
      if (asked > 0) world.wake.notify(`settlements:${chain.caip2}`);
      return !isDone;
    },
  };
}
