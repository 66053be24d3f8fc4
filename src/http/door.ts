import type { World } from "../world.ts";
import { slidingLog, type RateLimiter } from "./rate/slidingLog.ts";

/** What the checks share beside the world: how often somebody has called. Each limiter has its own keys. */
export type Door = {
  readonly world: World;
  readonly perOperation: RateLimiter;
  readonly perIntent: RateLimiter;
  readonly perGuesser: RateLimiter;
};

export function openDoor(world: World): Door {
  return {
    world,
    perOperation: slidingLog(world.clock),
    perIntent: slidingLog(world.clock),
    perGuesser: slidingLog(world.clock),
  };
}
