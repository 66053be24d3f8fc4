import { bindCustomers } from "../inbox/bindCustomers.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Asks the gate in rounds, so that pending customers do not delay the ones behind them. */
export function bindCustomersLoop(world: World): Loop {
  let afterSeq = 0n;
  return {
    name: "customers",
    topic: "customers",
    intervalMs: 2_000,
    tick: async () => {
      afterSeq = await bindCustomers(world, afterSeq);
      // The rest waits for the next round, so that a gate that answers "pending" is not asked without pause.
      return false;
    },
  };
}
