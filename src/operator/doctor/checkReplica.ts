import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/** Whether the copy of the database is read, where one is configured. */
export async function checkReplica({ replica, clock }: Pick<World, "replica" | "clock">): Promise<Finding[]> {
  if (replica === undefined) return [];
  const what = "copy of the database";
  const { asOf, reason } = await replica.check();
  if (asOf === undefined) return [{ what, verdict: "warn", found: `not read, the primary is: ${reason}` }];
  const behindMs = Math.max(0, clock.now().getTime() - asOf.getTime());
  return [{ what, verdict: "ok", found: `${(behindMs / 1_000).toFixed(1)} s behind` }];
}
