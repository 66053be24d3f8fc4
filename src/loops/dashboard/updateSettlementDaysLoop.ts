import { updateSettlementDays } from "../../settlement/days/settlementDays.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

const INTERVAL_MS = 2_000;

/** Adds what settlements changed to their days. */
export function updateSettlementDaysLoop(world: World): Loop {
  return {
    name: "settlement days",
    topic: "settlement days",
    intervalMs: INTERVAL_MS,
    tick: () => updateSettlementDays(world),
  };
}
