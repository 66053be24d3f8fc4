import { updateAlarms } from "../alarm/updateAlarms.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

/** Short enough that every alarm is raised within 30 seconds. */
const INTERVAL_MS = 5_000;

export function updateAlarmsLoop(world: World): Loop {
  return {
    name: "alarms",
    topic: "alarms",
    intervalMs: INTERVAL_MS,
    tick: async () => {
      await updateAlarms(world);
      return false;
    },
  };
}
