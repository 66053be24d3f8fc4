import { purgeExpired } from "../idempotency/purgeExpired.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Purging is not urgent: an expired response is never replayed, even while its row exists. */
export function purgeExpiredLoop(world: World): Loop {
  return {
    name: "answers",
    topic: "answers",
    intervalMs: 60_000,
    tick: async () => {
      const { isDone } = await purgeExpired(world);
      return !isDone;
    },
  };
}
