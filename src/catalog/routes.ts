import { cctpV2Speeds, decodeCctpV2Config, encodeCctpV2Config } from "@tributary/inbox/cctpV2";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { hashRoute, type Route } from "@tributary/inbox/routes";
import type { Hex } from "@tributary/inbox/terms";
import { caip2, referenceOf, type Caip2 } from "../kernel/caip.ts";
import { assert } from "../kernel/assert.ts";
import { findWatchedChain, type Asset, type Catalog } from "./catalog.ts";
import { crossingMinimum } from "./crossingMinimum.ts";

export type RouteSpeed = keyof typeof cctpV2Speeds;

/** A way of a token on another chain to the settle chain. */
export type CatalogRoute = {
  readonly kind: "leaf";
  /** Hash of the route in the Merkle tree of the inbox's terms. */
  readonly leaf: Hex;
  readonly speed: RouteSpeed;
  /** The origin chain. */
  readonly chain: Caip2;
  /** The origin token in stored form. */
  readonly token: string;
  readonly adapter: Hex;
  /** The least amount that the bridge takes, in the origin token's smallest units. */
  readonly minAmount: bigint;
  /** The adapter's settings, ABI-encoded. */
  readonly config: Hex;
  /** The most that the bridge may keep, in millionths of the amount. */
  readonly feePpmMax: number;
  readonly decimals: number;
  /** The smallest deposit of the origin token that counts on its own, in its smallest units. */
  readonly minimumUnits: bigint;
};

/**
 * Every route from an origin on an EVM chain to a rail on another chain, ordered by leaf: the order of the root. Those
 * to a rail on Solana name no recipient yet. Empty without a bridge.
 */
export function routesTo(catalog: Catalog, rail: Asset): CatalogRoute[] {
  const settle = findBridgedChain(catalog, rail);
  if (settle === undefined) return [];
  const assets = catalog.assets.filter(
    (asset) => asset.isOrigin && asset.namespace === "eip155" && asset.chain !== rail.chain,
  );
  const origins = assets.flatMap((asset) => {
    const chain = findBridgedChain(catalog, asset);
    return chain === undefined ? [] : [{ asset, chainId: BigInt(asset.chainId), messenger: chain.messenger as Hex }];
  });
  const routes = buildCctpV2Routes({
    settle: { chainId: rail.namespace === "eip155" ? BigInt(rail.chainId) : 0n, domain: settle.domain },
    origins: origins.map(({ asset, ...origin }) => ({ ...origin, usdc: asset.token as Hex })),
  });
  return routes.map((route) => {
    const asset = assets.find(({ chain }) => chain === routeChain(route));
    assert(asset, `no origin has the route of chain ${route.chainId}`);
    const { decimals } = asset;
    return toCatalogRoute(route, { decimals, minimumUnits: crossingMinimum(asset, rail) });
  });
}

/** The route with what stands beside its leaf. */
export function toCatalogRoute(
  route: Route,
  { decimals, minimumUnits }: { decimals: number; minimumUnits: bigint },
): CatalogRoute {
  const { token, adapter, minAmount, config } = route;
  const { finalityThresholdMin, feePpmMax } = decodeCctpV2Config(config);
  const isFast = finalityThresholdMin <= cctpV2Speeds.fast.finalityThresholdMin;
  return {
    kind: "leaf",
    leaf: hashRoute(route),
    speed: isFast ? "fast" : "standard",
    chain: routeChain(route),
    token,
    adapter,
    minAmount,
    config,
    feePpmMax,
    decimals,
    minimumUnits,
  };
}

/**
 * The route to an account of another kind of chain. The recipient is pinned in the leaf, so each has a leaf of its own.
 */
export function withRecipient(route: CatalogRoute, recipient: Hex): CatalogRoute {
  const { token, adapter, minAmount, decimals, minimumUnits } = route;
  const config = encodeCctpV2Config({ ...decodeCctpV2Config(route.config), recipient });
  const chainId = BigInt(referenceOf(route.chain));
  return toCatalogRoute({ chainId, token: token as Hex, adapter, minAmount, config }, { decimals, minimumUnits });
}

function routeChain({ chainId }: Pick<Route, "chainId">): Caip2 {
  return caip2("eip155", chainId.toString());
}

/** The bridge's contracts on the chain of an asset that crosses by it; undefined for every other asset. */
function findBridgedChain(catalog: Catalog, asset: Asset) {
  return asset.bridge === undefined ? undefined : findWatchedChain(catalog, asset.chain)?.cctp;
}
