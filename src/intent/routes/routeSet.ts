import { computeRouteProof, computeRoutesRoot, type Route } from "@tributary/inbox/routes";
import { keccak256, stringToBytes } from "viem";
import type { Hex } from "@tributary/inbox/terms";
import type { Hop } from "../../catalog/hops.ts";
import { toCatalogRoute, withRecipient, type CatalogRoute } from "../../catalog/routes.ts";
import { assert } from "../../kernel/assert.ts";
import { referenceOf, type Caip2 } from "../../kernel/caip.ts";

// The routes that an intent pins. The address of an EVM inbox commits to the root of its leaves; minimum and decimals
// of an origin stand beside the leaves, so a changed minimum is another set with the same root. What crosses from
// Solana has an inbox of its own there, whose address commits to its hop. A payout on Solana has an account of its own
// as the recipient of its leaves: they are built from the set, which has none, so that each set is stored once.

/** A route from an EVM chain that an intent pinned. Lists of them are in the order of the root. */
export type PinnedLeaf = CatalogRoute;

/** A route from Solana that an intent pinned. */
export type PinnedHop = Pick<
  PinnedLeaf,
  "speed" | "chain" | "token" | "minAmount" | "feePpmMax" | "decimals" | "minimumUnits"
> & {
  readonly kind: "hop";
  readonly hop: Hop;
};

export type PinnedRoute = PinnedLeaf | PinnedHop;

/** `hops`: two routes each. */
export type RouteSet = { id: Hex; root: Hex; routes: readonly PinnedLeaf[]; hops: readonly PinnedHop[] };

/** A route set as the database stores it. */
export type StoredRouteSet = {
  id: Hex;
  root: Hex;
  routes: readonly StoredRoute[];
  origins: readonly StoredOrigin[];
  hops: readonly StoredHop[];
};

type StoredRoute = { chainId: string; token: Hex; adapter: Hex; minAmount: string; config: Hex };
type StoredOrigin = { chainId: string; token: Hex; decimals: number; minimumUnits: string };
type StoredHop = Omit<Hop, "minAmount" | "minimumUnits"> & { minAmount: string; minimumUnits: string };

/** The set of routes in the order of their root, and of hops; undefined without any. */
export function buildRouteSet(routes: readonly CatalogRoute[], hops: readonly Hop[] = []): RouteSet | undefined {
  if (routes.length === 0 && hops.length === 0) return undefined;
  const root = computeRoutesRoot(routes.map(toRoute));
  const content = {
    root,
    routes: routes.map(toStoredRoute),
    origins: toStoredOrigins(routes),
    ...(hops.length > 0 && { hops: hops.map(toStoredHop) }),
  };
  const id = keccak256(stringToBytes(JSON.stringify(content)));
  return { id, root, routes, hops: hops.flatMap(toPinnedHops) };
}

export function toStoredRouteSet({ id, root, routes, hops }: RouteSet): StoredRouteSet {
  const stored = new Set(hops.map(({ hop }) => hop));
  return {
    id,
    root,
    routes: routes.map(toStoredRoute),
    origins: toStoredOrigins(routes),
    hops: [...stored].map(toStoredHop),
  };
}

/** Throws an InternalError when the stored routes do not have the stored root. */
export function fromStoredRouteSet({ id, root, routes, origins, hops }: StoredRouteSet): RouteSet {
  const pinned = routes.map((stored) => {
    const route = { ...stored, chainId: BigInt(stored.chainId), minAmount: BigInt(stored.minAmount) };
    const origin = origins.find(({ chainId, token }) => chainId === stored.chainId && token === stored.token);
    assert(origin, `route set ${id} has no origin for a route of chain ${stored.chainId}`);
    return toCatalogRoute(route, { decimals: origin.decimals, minimumUnits: BigInt(origin.minimumUnits) });
  });
  assert(computeRoutesRoot(pinned.map(toRoute)) === root, `the routes of route set ${id} have another root`);
  return { id, root, routes: pinned, hops: hops.map(fromStoredHop).flatMap(toPinnedHops) };
}

function toPinnedHops(hop: Hop): PinnedHop[] {
  const { chain, mint: token, minAmount, decimals, minimumUnits } = hop;
  return hop.routes.map(({ feePpmMax }, index) => {
    const speed = index === 0 ? "fast" : "standard";
    return { kind: "hop", speed, chain, token, minAmount, feePpmMax, decimals, minimumUnits, hop };
  });
}

/** The route in the form of the hub's ABI. */
export function toRoute({ chain, token, adapter, minAmount, config }: PinnedLeaf): Route {
  return { chainId: BigInt(referenceOf(chain)), token: token as Hex, adapter, minAmount, config };
}

/**
 * The Merkle proof of one of the routes: the siblings from its leaf up to the root. Throws a RangeError for another
 * set's route.
 */
export function proofOf(routes: readonly PinnedRoute[], { leaf }: Pick<PinnedLeaf, "leaf">): Hex[] {
  const leaves = leavesOf(routes);
  return computeRouteProof(
    leaves.map(toRoute),
    leaves.findIndex((route) => route.leaf === leaf),
  );
}

/**
 * The leaves of a payout on Solana, in the order of its own root. `recipient`: the token account of its inbox there.
 */
export function leavesTo(recipient: Hex, { routes }: Pick<RouteSet, "routes">): PinnedLeaf[] {
  return routes
    .map((route) => withRecipient(route, recipient))
    .toSorted((one, other) => (one.leaf < other.leaf ? -1 : 1));
}

/** The routes of the root. */
export function leavesOf(routes: readonly PinnedRoute[]): PinnedLeaf[] {
  return routes.filter((route) => route.kind === "leaf");
}

/** Each hop once. */
export function hopsOf(routes: readonly PinnedRoute[]): Hop[] {
  return [...new Set(routes.flatMap((route) => (route.kind === "hop" ? route.hop : [])))];
}

/** The routes from an asset, at most one of each speed. */
export function routesFrom<Pinned extends PinnedRoute>(
  routes: readonly Pinned[],
  asset: { chain: Caip2; token: string },
): Pinned[] {
  return routes.filter(({ chain, token }) => chain === asset.chain && token === asset.token);
}

export function hasRouteFrom(routes: readonly PinnedRoute[], asset: { chain: Caip2; token: string }): boolean {
  return routesFrom(routes, asset).length > 0;
}

function toStoredRoute(pinned: PinnedLeaf): StoredRoute {
  const { chainId, token, adapter, minAmount, config } = toRoute(pinned);
  return { chainId: chainId.toString(), token, adapter, minAmount: minAmount.toString(), config };
}

function toStoredOrigins(routes: readonly PinnedLeaf[]): StoredOrigin[] {
  const origins = new Map(
    routes.map((route) => {
      const { chain, token, decimals, minimumUnits } = route;
      const origin = {
        chainId: referenceOf(chain),
        token: token as Hex,
        decimals,
        minimumUnits: minimumUnits.toString(),
      };
      return [`${chain}/${token}`, origin] as const;
    }),
  );
  return [...origins.values()];
}

function toStoredHop(hop: Hop): StoredHop {
  return { ...hop, minAmount: hop.minAmount.toString(), minimumUnits: hop.minimumUnits.toString() };
}

function fromStoredHop(stored: StoredHop): Hop {
  return { ...stored, minAmount: BigInt(stored.minAmount), minimumUnits: BigInt(stored.minimumUnits) };
}
