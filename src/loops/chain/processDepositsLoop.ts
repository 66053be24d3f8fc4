import { countDeposits } from "../../deposit/countDeposits.ts";
import { processMovements } from "../../deposit/processMovements.ts";
import type { Chain } from "../../chain/chain.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";
import { sendTopic } from "./topics.ts";

/**
 * Wakes at each new head of its chain, which may make something final. The interval only covers a lost signal. Wakes
 * the loops of settling only when a deposit may have changed, so that an idle chain costs little.
 */
export function processDepositsLoop(world: World, chain: Chain): Loop {
  const { caip2 } = chain;
  return {
    name: `deposits ${caip2}`,
    topic: `deposits:${caip2}`,
    intervalMs: 5_000,
    tick: async () => {
      const { isDone, hasPassed } = await processMovements(world, caip2);
      const counted = isDone ? await countDeposits(world, caip2) : 0;
      // At the new head dust or an outgoing transaction may be final.
      world.wake.notify(`dust:${caip2}`);
      world.wake.notify(sendTopic(chain));
      if (hasPassed || counted > 0) {
        world.wake.notify(`agreements:${caip2}`);
        world.wake.notify(`settlements:${caip2}`);
        world.wake.notify("events");
      }
      return !isDone;
    },
  };
}
