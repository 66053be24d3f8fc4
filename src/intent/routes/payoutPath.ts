import { isPayoutAsset } from "../payoutAsset.ts";
import type { IntentRow } from "../store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { routesFrom, type PinnedRoute } from "./routeSet.ts";

/** How deposits in an asset reach the payout of an intent. */
export type PayoutPath = {
  decimals: number;
  /** The smallest deposit that counts on its own, in the asset's smallest units. */
  minimumUnits: bigint;
  /** Whether a bridge carries them to the settle chain. */
  isBridged: boolean;
};

type Payout = Pick<
  IntentRow,
  "payout_namespace" | "payout_chain_reference" | "payout_token" | "payout_decimals" | "minimum_units"
>;

/**
 * The path of an asset to the payout: none for the payout asset itself, or a pinned route. Undefined for any other
 * asset.
 */
export function findPayoutPath(
  intent: Payout,
  routes: readonly PinnedRoute[],
  asset: { chain: Caip2; token: string },
): PayoutPath | undefined {
  if (isPayoutAsset(intent, asset))
    return { decimals: intent.payout_decimals, minimumUnits: intent.minimum_units, isBridged: false };
  const [route] = routesFrom(routes, asset);
  return route && { decimals: route.decimals, minimumUnits: route.minimumUnits, isBridged: true };
}
