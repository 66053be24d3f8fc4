import { applyDueChanges } from "../../dashboard/payoutChange.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

const INTERVAL_MS = 10_000;

/** Makes the changes of accounts' payouts whose wait is over. */
export function applyPayoutChangesLoop(world: World): Loop {
  return {
    name: "payout changes",
    topic: "payout changes",
    intervalMs: INTERVAL_MS,
    tick: async () => {
      await applyDueChanges(world);
      return false;
    },
  };
}
