import { findChainDescription, findWatchedChain, type Asset, type Catalog } from "../../../catalog/catalog.ts";
import type { ChainConfig } from "../../../config/config.ts";
import {
  isAcceptedOrigin,
  isDepositIssuable,
  isIntentDepositIssuable,
  originMinimum,
  type IssuingConditions,
} from "../../../inbox/depositIssuable.ts";
import { isPayoutAsset, payoutChain } from "../../../intent/payoutAsset.ts";
import type { IntentRow } from "../../../intent/store.ts";
import { assert } from "../../../kernel/assert.ts";
import { caip19, displayAddress } from "../../../kernel/caip.ts";
import { formatUnits } from "../../../kernel/units.ts";
import type { CheckoutOrigin, CheckoutOrigins } from "@tributary/checkout/checkoutState";
import { explorerOf } from "./buildState.ts";

/**
 * The origins of a page: issuable ones first, and within each group those on the payout network first. A pure function.
 */
export function buildOrigins(catalog: Catalog, intent: IntentRow, conditions: IssuingConditions): CheckoutOrigins {
  const origins = catalog.assets.filter((asset) => asset.isOrigin);
  const built = origins.map((origin) => buildOrigin(catalog, { intent, origin, conditions }));
  const rank = ({ isIssuable, isPayout, isPayoutNetwork }: CheckoutOrigin) =>
    (isIssuable ? 0 : 4) + (isPayout ? 0 : 2) + (isPayoutNetwork ? 0 : 1);
  return {
    origins: built.toSorted((one, other) => rank(one) - rank(other)),
    isIssuable: isIntentDepositIssuable(intent, origins, conditions),
  };
}

type OriginOfIntent = { intent: IntentRow; origin: Asset; conditions: IssuingConditions };

function buildOrigin(catalog: Catalog, { intent, origin, conditions }: OriginOfIntent): CheckoutOrigin {
  const chain = findChainDescription(catalog, origin.chain);
  assert(chain, `the catalogue lists the asset ${origin.railId} without its chain`);
  return {
    originId: caip19(origin.chain, origin.token),
    namespace: origin.namespace,
    reference: origin.reference,
    chainId: origin.chainId,
    networkName: chain.name,
    networkSlug: chain.slug,
    symbol: origin.symbol,
    tokenAddress: displayAddress(origin.chain, origin.token),
    decimals: origin.decimals,
    minimum: formatUnits(originMinimum(intent, origin, conditions.routes), origin.decimals),
    isPayout: isPayoutAsset(intent, origin),
    isPayoutNetwork: origin.chain === payoutChain(intent),
    isTestNetwork: !intent.livemode,
    isIssuable: isDepositIssuable(intent, origin, conditions),
    reason: unissuableReason(intent, origin, conditions),
    expectedSeconds: expectedSeconds(findWatchedChain(catalog, origin.chain), intent.price_units),
    feeUsdMax: chain.estimates?.feeUsdMax ?? null,
    explorerUrl: explorerOf(catalog, origin.chain),
    publicRpcUrl: chain.publicRpcUrl,
    native: { name: chain.native.name, symbol: chain.native.symbol, decimals: chain.native.decimals },
  };
}

function unissuableReason(intent: IntentRow, origin: Asset, conditions: IssuingConditions): CheckoutOrigin["reason"] {
  if (!isAcceptedOrigin(intent, origin, conditions.routes)) return "not_accepted";
  if (!conditions.isEnabled(origin)) return "off";
  return conditions.isHealthy(origin.chain) ? null : "paused";
}

/** From the transfer until it is final by the rule for this price; null where the chain has no estimate. */
function expectedSeconds(
  chain: Pick<ChainConfig, "estimates" | "finality"> | undefined,
  priceUnits: bigint | null,
): number | null {
  const { estimates, finality: tiers = [] } = chain ?? {};
  const tier = tiers.find(({ upToPriceUnits }) => upToPriceUnits === undefined || (priceUnits ?? 0n) <= upToPriceUnits);
  if (estimates === undefined || tier === undefined) return null;
  const { finality } = tier;
  const { blockMs, safeMs, finalizedMs } = estimates;
  if ("seconds" in finality) return finality.seconds;
  if ("tag" in finality) return toSeconds(finality.tag === "safe" ? safeMs : finalizedMs);
  return toSeconds(blockMs === undefined ? undefined : blockMs * finality.confirmations);
}

function toSeconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.max(1, Math.ceil(ms / 1_000));
}
