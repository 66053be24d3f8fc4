import type { HostSample } from "../health/sampleHost.ts";
import type { AlarmCondition } from "./alarm.ts";

const FREE_BYTES_MIN = 2 * 1024 ** 3;
/** Far above what a synchronized clock and one round trip to the database can differ. */
const CLOCK_DIFFERENCE_MS_MAX = 10_000;

/** The alarms of the machine of this process: its disk, and its clock against the database's. Pure. */
export function checkHost({ directory, freeBytes, clockDifferenceMs }: HostSample): AlarmCondition[] {
  const isLow = freeBytes !== undefined && freeBytes < FREE_BYTES_MIN;
  return [
    ...(isLow ? [diskLow(directory, freeBytes)] : []),
    ...(Math.abs(clockDifferenceMs) > CLOCK_DIFFERENCE_MS_MAX ? [clockDiffers(clockDifferenceMs)] : []),
  ];
}

function diskLow(directory: string, freeBytes: bigint): AlarmCondition {
  return { alarm: "disk_low", subject: directory, facts: { directory, freeBytes: String(freeBytes) } };
}

function clockDiffers(differenceMs: number): AlarmCondition {
  return { alarm: "clock_differs", subject: "machine", facts: { comparedWith: "database", differenceMs } };
}
