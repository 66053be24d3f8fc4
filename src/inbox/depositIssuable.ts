import type { Asset } from "../catalog/catalog.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import type { IntentRow } from "../intent/store.ts";

// Whether a payer may be offered an origin. Pure: facts in, a flag out.

/** What the flags depend on beside the intent. */
export type IssuingConditions = {
  /** Whether source inboxes are issued for the origin. */
  isEnabled: (origin: Asset) => boolean;
  /** Whether the chain is being read: a deposit that nobody sees should not be asked for. */
  isHealthy: (chain: string) => boolean;
};

export function isDepositIssuable(intent: IntentRow, origin: Asset, facts: IssuingConditions): boolean {
  return facts.isEnabled(origin) && isPayoutAsset(intent, origin) && facts.isHealthy(origin.chain);
}

/** The intent as a whole: somewhere, a payer can pay it now. */
export function isIntentDepositIssuable(
  intent: IntentRow,
  origins: readonly Asset[],
  facts: IssuingConditions,
): boolean {
  if (intent.status !== "active" || intent.customer_bound_at === null) return false;
  return origins.some((origin) => isDepositIssuable(intent, origin, facts));
}
