import type { Asset } from "../catalog/catalog.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import { findPayoutPath } from "../intent/routes/payoutPath.ts";
import { routesFrom, type PinnedRoute } from "../intent/routes/routeSet.ts";
import type { IntentRow } from "../intent/store.ts";
import { convertUnits } from "../kernel/units.ts";

// Decides which origins the API offers to a payer. Pure functions.

/** The conditions beside the intent's own state. */
export type IssuingConditions = {
  /** Whether source inbox issuing is enabled for the origin. */
  isEnabled: (origin: Asset) => boolean;
  /** Whether the watcher reads the chain. Payers are not sent to a chain whose deposits would stay undetected. */
  isHealthy: (chain: string) => boolean;
  /** The intent's routes that are issued on. */
  routes: readonly PinnedRoute[];
};

/**
 * Whether a payer may be sent to the origin: it is the payout asset itself, or one of the routes begins there. A route
 * whose minimum exceeds the price of a one-time intent is not offered, because its crossing would cost more than the
 * price is worth (D57).
 */
export function isAcceptedOrigin(intent: IntentRow, origin: Asset, routes: readonly PinnedRoute[]): boolean {
  if (isPayoutAsset(intent, origin)) return true;
  const [route] = routesFrom(routes, origin);
  if (route === undefined) return false;
  const { one_time: isOneTime, price_token_units: price, payout_decimals: decimals } = intent;
  return !isOneTime || price === null || convertUnits(price, decimals, route.decimals) >= route.minimumUnits;
}

/**
 * The smallest deposit of an origin that counts by itself for this intent: the pinned one, where the intent has a way
 * from there (D49).
 */
export function originMinimum(intent: IntentRow, origin: Asset, routes: readonly PinnedRoute[]): bigint {
  return findPayoutPath(intent, routes, origin)?.minimumUnits ?? origin.minimumUnits;
}

export function isDepositIssuable(intent: IntentRow, origin: Asset, conditions: IssuingConditions): boolean {
  return (
    conditions.isEnabled(origin) &&
    isAcceptedOrigin(intent, origin, conditions.routes) &&
    conditions.isHealthy(origin.chain)
  );
}

/** Whether a payer can pay the intent now through at least one origin. */
export function isIntentDepositIssuable(
  intent: IntentRow,
  origins: readonly Asset[],
  conditions: IssuingConditions,
): boolean {
  if (intent.status !== "active" || intent.customer_bound_at === null) return false;
  return origins.some((origin) => isDepositIssuable(intent, origin, conditions));
}
