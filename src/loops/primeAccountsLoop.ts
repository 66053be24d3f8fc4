import type { Chain } from "../chain/chain.ts";
import { followTransactions } from "../priming/followTransactions.ts";
import { openAccounts } from "../priming/openAccounts.ts";
import { primingTopic } from "../priming/requestPriming.ts";
import { closeAccounts } from "../settlement/closing/closeAccounts.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";
import { sendTopic } from "./chain/topics.ts";

/** Without open rows, each round reads an empty index. */
const INTERVAL_MS = 2_000;

/**
 * Creates the accounts of inboxes that payers look at, and closes those that nobody uses any more. A payer's choice
 * wakes it.
 */
export function primeAccountsLoop(world: World, chain: Chain): Loop {
  return {
    name: `prime accounts ${chain.caip2}`,
    topic: primingTopic(chain.caip2),
    intervalMs: INTERVAL_MS,
    tick: async () => {
      await followTransactions(world, chain);
      const submitted = (await openAccounts(world, chain)) + (await closeAccounts(world, chain));
      if (submitted > 0) world.wake.notify(sendTopic(chain));
      return false;
    },
  };
}
