import { checkCountedRule } from "../deposit/decide/checkCountedRule.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Two statements each time, over what counted since. */
const INTERVAL_MS = 30_000;

/** Looks whether deposits counted by their rules. */
export function checkCountedLoop(world: World): Loop {
  return {
    name: "counted by their rules",
    topic: "counted by their rules",
    intervalMs: INTERVAL_MS,
    tick: () => checkCountedRule(world),
  };
}
