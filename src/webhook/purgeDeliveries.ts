import type { Config } from "../config/config.ts";
import { RETENTION_DEFAULT } from "../config/retention.ts";
import type { Db } from "../db/database.ts";
import { addMs, DAY_MS, type Clock } from "../kernel/clock.ts";
import { deleteOldDeliveries } from "./deliveryStore.ts";
import { deleteEmptyEndpoints } from "./endpoint/endpointStore.ts";

/** Deletes up to `limit` deliveries from before the retention, or of deleted endpoints, and returns their number. */
export async function purgeDeliveries(
  { db, clock, config }: { db: Db; clock: Clock; config: Pick<Config, "retention"> },
  limit: number,
): Promise<number> {
  const { deliveriesDays } = config.retention ?? RETENTION_DEFAULT;
  return db.transaction(async (tx) => {
    const deleted = await deleteOldDeliveries(tx, { before: addMs(clock.now(), -deliveriesDays * DAY_MS), limit });
    await deleteEmptyEndpoints(tx, { limit });
    return deleted;
  });
}
