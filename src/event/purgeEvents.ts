import { RETENTION_DEFAULT } from "../config/retention.ts";
import type { Config } from "../config/config.ts";
import type { Db } from "../db/database.ts";
import { addMs, DAY_MS, type Clock } from "../kernel/clock.ts";
import { deleteOldestEvents } from "./store.ts";

/**
 * Deletes up to `limit` events from before the retention, oldest first, and returns their number. Without a retention,
 * none.
 */
export async function purgeEvents(
  { db, clock, config }: { db: Db; clock: Clock; config: Pick<Config, "retention"> },
  limit: number,
): Promise<number> {
  const { eventsDays } = config.retention ?? RETENTION_DEFAULT;
  if (eventsDays === undefined) return 0;
  return db.transaction((tx) => deleteOldestEvents(tx, { before: addMs(clock.now(), -eventsDays * DAY_MS), limit }));
}
