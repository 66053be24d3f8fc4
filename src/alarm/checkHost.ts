import process from "node:process";
import type { HostMetrics } from "../kernel/alarm/hostMetrics.ts";
import type { World } from "../world.ts";
import type { AlarmCondition } from "./alarm.ts";

const FREE_BYTES_MIN = 2 * 1024 ** 3;
/** Far above what a synchronized clock and one round trip to the database can differ. */
const CLOCK_DIFFERENCE_MS_MAX = 10_000;

/** The alarms of the machine of this process: its disk, and its clock against the database's. */
export async function checkHost(
  world: Pick<World, "clock" | "config">,
  hostMetrics: HostMetrics,
): Promise<AlarmCondition[]> {
  const { database } = world.config;
  const directory = database.kind === "pglite" ? (database.directory ?? process.cwd()) : process.cwd();
  const freeBytes = await hostMetrics.freeBytes(directory).catch(() => undefined);
  const differenceMs = hostMetrics.now().getTime() - world.clock.now().getTime();
  return [
    ...(freeBytes !== undefined && freeBytes < FREE_BYTES_MIN ? [diskLow(directory, freeBytes)] : []),
    ...(Math.abs(differenceMs) > CLOCK_DIFFERENCE_MS_MAX ? [clockDiffers(differenceMs)] : []),
  ];
}

function diskLow(directory: string, freeBytes: bigint): AlarmCondition {
  return { alarm: "disk_low", subject: directory, facts: { directory, freeBytes: String(freeBytes) } };
}

function clockDiffers(differenceMs: number): AlarmCondition {
  return { alarm: "clock_differs", subject: "host", facts: { comparedWith: "database", differenceMs } };
}
