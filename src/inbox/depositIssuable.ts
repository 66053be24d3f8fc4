import type { Asset } from "../catalog/catalog.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import type { IntentRow } from "../intent/store.ts";

// Decides which origins the API offers to a payer. Pure functions.

/** The conditions beside the intent's own state. */
export type IssuingConditions = {
  /** Whether source inbox issuing is enabled for the origin. */
  isEnabled: (origin: Asset) => boolean;
  /** Whether the watcher reads the chain. Payers are not sent to a chain whose deposits would stay undetected. */
  isHealthy: (chain: string) => boolean;
};

export function isDepositIssuable(intent: IntentRow, origin: Asset, conditions: IssuingConditions): boolean {
  return conditions.isEnabled(origin) && isPayoutAsset(intent, origin) && conditions.isHealthy(origin.chain);
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
