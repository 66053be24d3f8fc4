import process from "node:process";
import type { HostMetrics } from "../kernel/alarm/hostMetrics.ts";
import type { World } from "../world.ts";

/** One look at the machine of this process. */
export type HostSample = {
  directory: string;
  /** On the disk of the directory; undefined when it cannot be read. */
  freeBytes: bigint | undefined;
  /** The machine's clock less the database's. */
  clockDifferenceMs: number;
};

export async function sampleHost(
  { clock, config }: Pick<World, "clock" | "config">,
  hostMetrics: HostMetrics,
): Promise<HostSample> {
  const { database } = config;
  const directory = database.kind === "pglite" ? (database.directory ?? process.cwd()) : process.cwd();
  return {
    directory,
    freeBytes: await hostMetrics.freeBytes(directory).catch(() => undefined),
    clockDifferenceMs: hostMetrics.now().getTime() - clock.now().getTime(),
  };
}
