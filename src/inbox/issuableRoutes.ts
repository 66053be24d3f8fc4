import { findIntentRoutes } from "../intent/routes/findRoutes.ts";
import type { PinnedRoute } from "../intent/routes/routeSet.ts";
import type { IntentRow } from "../intent/store.ts";
import { convertUnits } from "../kernel/units.ts";
import type { World } from "../world.ts";

/**
 * The pinned routes over which new source inboxes are issued. Only a service that drives crossings may send payers
 * there.
 */
export async function findIssuableRoutes(
  { db, memory, bridge }: Pick<World, "db" | "memory" | "bridge">,
  intent: IntentRow,
): Promise<readonly PinnedRoute[]> {
  if (bridge === undefined) return [];
  const routes = await findIntentRoutes({ db: db.root, memory }, intent);
  return routes.filter((route) => !isAbovePrice(intent, route));
}

/**
 * Whether the route carries only more than the intent asks for once. What is paid over it all the same crosses late.
 */
function isAbovePrice(intent: IntentRow, { minimumUnits, decimals }: PinnedRoute): boolean {
  const { one_time: isOneTime, price_token_units: price, payout_decimals: payoutDecimals } = intent;
  return isOneTime && price !== null && convertUnits(price, payoutDecimals, decimals) < minimumUnits;
}
