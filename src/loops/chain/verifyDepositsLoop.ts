import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { verifyDeposits } from "../../deposit/verify/verifyDeposits.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

const INTERVAL_MS = 1_000;
/** Without an agreement rule, only verifications from an earlier configuration remain. */
const INTERVAL_IDLE_MS = 60_000;

/** A separate loop, so that a hanging provider does not delay the counting of other deposits. */
export function verifyDepositsLoop(world: World, chain: Chain): Loop {
  const requiresAgreement = findWatchedChain(world.catalog, chain.caip2)?.agreement !== undefined;
  return {
    name: `agreements ${chain.caip2}`,
    topic: `agreements:${chain.caip2}`,
    intervalMs: requiresAgreement ? INTERVAL_MS : INTERVAL_IDLE_MS,
    tick: async () => {
      const { asked, isDone } = await verifyDeposits(world, chain);
      if (asked > 0) world.wake.notify(`settlements:${chain.caip2}`);
      return !isDone;
    },
  };
}
