import type { Asset } from "../catalog/catalog.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import { hasRouteFrom, type PinnedRoute } from "../intent/routes/routeSet.ts";
import type { IntentRow } from "../intent/store.ts";

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

/** Whether deposits of the origin reach the payout: it is the payout asset itself, or one of the routes begins there. */
export function isAcceptedOrigin(intent: IntentRow, origin: Asset, routes: readonly PinnedRoute[]): boolean {
  return isPayoutAsset(intent, origin) || hasRouteFrom(routes, origin);
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
