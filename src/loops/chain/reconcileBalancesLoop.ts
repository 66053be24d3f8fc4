import type { Chain } from "../../chain/chain.ts";
import { PAGE_INTERVAL_MS, preparePasses, reconcileBalances } from "../../watch/reconcile/reconcileBalances.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Compares inbox balances with the ledger, a page at a time. */
export function reconcileBalancesLoop(world: World, chain: Chain): Loop {
  let isPrepared = false;
  return {
    name: `reconcile balances of ${chain.caip2}`,
    topic: `balances:${chain.caip2}`,
    intervalMs: PAGE_INTERVAL_MS,
    tick: async () => {
      if (!isPrepared) await preparePasses(world, chain);
      isPrepared = true;
      await reconcileBalances(world, chain);
      return false;
    },
  };
}
