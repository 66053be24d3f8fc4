import { assignEventSequences } from "../event/assignEventSequences.ts";
import { recordMilestone } from "../metrics/recordMilestone.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

export function assignEventSequencesLoop(world: World): Loop {
  return {
    name: "events",
    topic: "events",
    intervalMs: 1_000,
    tick: async () => {
      const { isDone, events } = await assignEventSequences(world.db);
      for (const event of events) recordMilestone(world, event);
      return !isDone;
    },
  };
}
