import type { Chain } from "../chain/chain.ts";
import { observeSettlements } from "../settlement/observeSettlements.ts";
import { planSettlements } from "../settlement/planSettlements.ts";
import { replanSettlements } from "../settlement/replanSettlements.ts";
import { submitSettlements } from "../settlement/submitSettlements.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Observes before it plans, because a settlement already on the chain need not be sent. */
export function settleLoop(world: World, chain: Chain): Loop {
  return {
    name: `settlements ${chain.caip2}`,
    topic: `settlements:${chain.caip2}`,
    intervalMs: 2_000,
    tick: async (signal) => {
      const { isDone } = await observeSettlements(world, chain.caip2);
      world.wake.notify("events");
      if (!isDone) return true;
      if (signal?.aborted) return false;
      await planSettlements(world, chain.caip2);
      try {
        await submitSettlements(world, { chain, signal });
      } finally {
        // Signed transactions go out even when a new one cannot be priced.
        await chain.sender.process(world);
      }
      await replanSettlements(world, chain.caip2);
      return false;
    },
  };
}
