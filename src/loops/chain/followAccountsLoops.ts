import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { followAccounts, searchAccounts } from "../../watch/accounts/followAccounts.ts";
import { viewedAccountsTopic } from "../../watch/wakes.ts";
import { preparePasses } from "../../watch/reconcile/reconcileBalances.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

const INTERVAL_MS = 1_000;

/**
 * Finds deposits by balances: one loop for what payers look at, which wakes at each new block, and one for all inboxes.
 * A third does the slow searches, so that no deposit waits for one.
 */
export function followAccountsLoops(world: World, chain: Chain): Loop[] {
  const pollMs = findWatchedChain(world.catalog, chain.caip2)?.pollMs ?? INTERVAL_MS;
  const prepared = preparedOnce(world, chain);
  const search: Loop = {
    name: `search accounts of ${chain.caip2}`,
    topic: `searches:${chain.caip2}`,
    intervalMs: pollMs,
    tick: async () => {
      await prepared();
      await searchAccounts(world, chain);
      return false;
    },
  };
  const follow = (["viewed", "all"] as const).map((scope): Loop => ({
    name: `follow ${scope} accounts of ${chain.caip2}`,
    topic: scope === "viewed" ? viewedAccountsTopic(chain) : `accounts:${chain.caip2}`,
    intervalMs: pollMs,
    tick: async (ending) => {
      await prepared();
      const pauseMs = await followAccounts(world, chain, scope);
      if (pauseMs === undefined || pauseMs >= pollMs || ending?.aborted) return false;
      // Many inboxes share the time of a pass, in pages closer to each other than the interval.
      if (scope === "all") await world.clock.sleep(pauseMs, ending);
      return scope === "all" || pauseMs === 0;
    },
  }));
  return [...follow, search];
}

function preparedOnce(world: World, chain: Chain): () => Promise<void> {
  let isPrepared = false;
  return async () => {
    if (!isPrepared) await preparePasses(world, chain);
    isPrepared = true;
  };
}
