import { findIntentRoutes } from "../intent/routes/findRoutes.ts";
import type { PinnedRoute } from "../intent/routes/routeSet.ts";
import type { IntentRow } from "../intent/store.ts";
import type { World } from "../world.ts";

/** The pinned routes over which new source inboxes are issued. Only a service that drives crossings may send payers there. */
export async function findIssuableRoutes(
  { db, memory, bridge }: Pick<World, "db" | "memory" | "bridge">,
  intent: IntentRow,
): Promise<readonly PinnedRoute[]> {
  return bridge !== undefined ? findIntentRoutes({ db: db.root, memory }, intent) : [];
}
