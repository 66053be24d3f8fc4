import type { Db } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import { deleteExpiredResponses } from "./store.ts";

/** Answers removed by one statement. */
const BATCH_MAX = 1_000;

/** Removes a batch of answers that no replay gets any more. */
export async function purgeExpired(world: { db: Db; clock: Clock }): Promise<{ isDone: boolean }> {
  const deleted = await deleteExpiredResponses(world.db, { now: world.clock.now(), limit: BATCH_MAX });
  return { isDone: deleted < BATCH_MAX };
}
