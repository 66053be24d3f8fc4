import { purgeExpired } from "../idempotency/purgeExpired.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Nobody waits for it: an answer that is too old is not given, whether its row is still there or not. */
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
