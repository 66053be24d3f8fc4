import { stampEvents } from "../event/stampEvents.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

export function stampEventsLoop(world: World): Loop {
  return {
    name: "events",
    topic: "events",
    intervalMs: 1_000,
    tick: async () => {
      const { isDone } = await stampEvents(world.db);
      return !isDone;
    },
  };
}
