import { assignEventSequences } from "../../event/assignEventSequences.ts";
import { recordMilestone } from "../../metrics/recordMilestone.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/**
 * The loops of the road wake it after a change. Events of requests wait at most this long, at the cost of one short
 * read.
 */
const INTERVAL_MS = 200;

export function assignEventSequencesLoop(world: World): Loop {
  return {
    name: "events",
    topic: "events",
    intervalMs: INTERVAL_MS,
    tick: async () => {
      const { isDone, events } = await assignEventSequences(world);
      for (const event of events) recordMilestone(world, event);
      if (events.length > 0 || !isDone)
        for (const topic of ["webhook events", "event streams"]) world.wake.notify(topic);
      return !isDone;
    },
  };
}
