import type { Db } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import { deleteExpiredResponses } from "./store.ts";

/** Deletes up to `limit` expired responses, which no replay returns, and returns their number. */
export async function purgeExpired(world: { db: Db; clock: Clock }, limit: number): Promise<number> {
  return deleteExpiredResponses(world.db, { now: world.clock.now(), limit });
}
