import type { Db } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import { deleteExpiredResponses } from "./store.ts";

/** The most responses that one statement removes. */
const BATCH_MAX = 1_000;

/** Removes a batch of expired responses, which no replay returns. */
export async function purgeExpired(world: { db: Db; clock: Clock }): Promise<{ isDone: boolean }> {
  const deleted = await deleteExpiredResponses(world.db, { now: world.clock.now(), limit: BATCH_MAX });
  return { isDone: deleted < BATCH_MAX };
}
