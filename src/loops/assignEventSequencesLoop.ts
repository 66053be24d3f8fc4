import { assignEventSequences } from "../event/assignEventSequences.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

export function assignEventSequencesLoop(world: World): Loop {
  return {
    name: "events",
    topic: "events",
    intervalMs: 1_000,
    tick: async () => {
      const { isDone } = await assignEventSequences(world.db);
      return !isDone;
    },
  };
}
