import { countDeposits } from "../../deposit/countDeposits.ts";
import { processMovements } from "../../deposit/processMovements.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Wakes at each new head of its chain. The interval only covers a lost signal. */
export function processDepositsLoop(world: World, chain: Caip2): Loop {
  return {
    name: `deposits ${chain}`,
    topic: `deposits:${chain}`,
    intervalMs: 5_000,
    tick: async () => {
      const { isDone } = await processMovements(world, chain);
      if (isDone) await countDeposits(world, chain);
      world.wake.notify(`dust:${chain}`);
      world.wake.notify(`agreements:${chain}`);
      world.wake.notify(`settlements:${chain}`);
      world.wake.notify("events");
      return !isDone;
    },
  };
}
