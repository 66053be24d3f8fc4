import { sumDust } from "../../deposit/sumDust.ts";
import { verifyDust } from "../../deposit/verify/verifyDust.ts";
import type { Chain } from "../../chain/chain.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** A separate loop, so that any amount of dust delays no deposit. Each new head may make dust final. */
export function sumDustLoop(world: World, chain: Chain): Loop {
  return {
    name: `dust ${chain.caip2}`,
    topic: `dust:${chain.caip2}`,
    intervalMs: 5_000,
    tick: async () => {
      const { isDone, summed } = await sumDust(world, chain.caip2);
      const verified = await verifyDust(world, chain);
      if (summed > 0 || verified > 0) {
        world.wake.notify(`settlements:${chain.caip2}`);
        world.wake.notify("events");
      }
      return !isDone;
    },
  };
}
