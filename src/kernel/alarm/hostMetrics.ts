import { statfs } from "node:fs/promises";
import { systemClock } from "../clock.ts";

/** What the checks read from the machine of this process. */
export interface HostMetrics {
  /** The machine's own clock. */
  now(): Date;
  /** Free bytes of the disk with this folder. Rejects when the folder cannot be read. */
  freeBytes(directory: string): Promise<bigint>;
}

export const thisHost: HostMetrics = {
  now: () => systemClock.now(),
  freeBytes: async (directory) => {
    const { bavail, bsize } = await statfs(directory, { bigint: true });
    return bavail * bsize;
  },
};
