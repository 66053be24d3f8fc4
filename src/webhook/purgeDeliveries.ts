import type { Config } from "../config/config.ts";
import { RETENTION_DEFAULT } from "../config/retention.ts";
import type { Db } from "../db/database.ts";
import { addMs, DAY_MS, type Clock } from "../kernel/clock.ts";
import { deleteDeliveriesOfDeleted, deleteOldDeliveries } from "./deliveryStore.ts";
import { deleteEmptyEndpoints } from "./endpoint/endpointStore.ts";

/**
 * Deletes up to `limit` deliveries from before the retention, and as many of deleted endpoints: some become old all the
 * time, so neither waits for the other. Returns the greater number.
 */
export async function purgeDeliveries(
  { db, clock, config }: { db: Db; clock: Clock; config: Pick<Config, "retention"> },
  limit: number,
): Promise<number> {
  const { deliveriesDays } = config.retention ?? RETENTION_DEFAULT;
  return db.transaction(async (tx) => {
    const at = clock.now();
    const old = await deleteOldDeliveries(tx, { before: addMs(at, -deliveriesDays * DAY_MS), limit });
    const ofDeleted = await deleteDeliveriesOfDeleted(tx, { limit });
    await deleteEmptyEndpoints(tx, { at, limit });
    return Math.max(old, ofDeleted);
  });
}
