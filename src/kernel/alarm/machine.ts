import { statfs } from "node:fs/promises";
import { systemClock } from "../clock.ts";

/** What the alarm checks read from the machine of a process. */
export interface Machine {
  /** The machine's own clock. */
  now(): Date;
  /** Free bytes of the disk with this folder. Rejects when the folder cannot be read. */
  freeBytes(directory: string): Promise<bigint>;
}

export const thisMachine: Machine = {
  now: () => systemClock.now(),
  freeBytes: async (directory) => {
    const { bavail, bsize } = await statfs(directory, { bigint: true });
    return bavail * bsize;
  },
};
