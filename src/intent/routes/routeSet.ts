import { computeRouteProof, computeRoutesRoot, type Route } from "@tributary/inbox/routes";
import { keccak256, stringToBytes } from "viem";
import type { Hex } from "@tributary/inbox/terms";
import { toCatalogRoute, type CatalogRoute } from "../../catalog/routes.ts";
import { assert } from "../../kernel/assert.ts";
import { referenceOf, type Caip2 } from "../../kernel/caip.ts";

// The routes that an intent pins. Its inbox address commits to their root; minimum and decimals of an origin stand
// beside the leaves, so a changed minimum is another set with the same root.

/** A route that an intent pinned. Lists of them are in the order of the root. */
export type PinnedRoute = CatalogRoute;

export type RouteSet = { id: Hex; root: Hex; routes: readonly PinnedRoute[] };

/** A route set as the database stores it. */
export type StoredRouteSet = { id: Hex; root: Hex; routes: readonly StoredRoute[]; origins: readonly StoredOrigin[] };

type StoredRoute = { chainId: string; token: Hex; adapter: Hex; minAmount: string; config: Hex };
type StoredOrigin = { chainId: string; token: Hex; decimals: number; minimumUnits: string };

/** The set of routes in the order of their root; undefined without routes. */
export function buildRouteSet(routes: readonly PinnedRoute[]): RouteSet | undefined {
  if (routes.length === 0) return undefined;
  const root = computeRoutesRoot(routes.map(toRoute));
  const content = { root, routes: routes.map(toStoredRoute), origins: toStoredOrigins(routes) };
  return { id: keccak256(stringToBytes(JSON.stringify(content))), root, routes };
}

export function toStoredRouteSet({ id, root, routes }: RouteSet): StoredRouteSet {
  return { id, root, routes: routes.map(toStoredRoute), origins: toStoredOrigins(routes) };
}

/** Throws an InternalError when the stored routes do not have the stored root. */
export function fromStoredRouteSet({ id, root, routes, origins }: StoredRouteSet): RouteSet {
  const pinned = routes.map((stored) => {
    const route = { ...stored, chainId: BigInt(stored.chainId), minAmount: BigInt(stored.minAmount) };
    const origin = origins.find(({ chainId, token }) => chainId === stored.chainId && token === stored.token);
    assert(origin, `route set ${id} has no origin for a route of chain ${stored.chainId}`);
    return toCatalogRoute(route, { decimals: origin.decimals, minimumUnits: BigInt(origin.minimumUnits) });
  });
  assert(computeRoutesRoot(pinned.map(toRoute)) === root, `the routes of route set ${id} have another root`);
  return { id, root, routes: pinned };
}

/** The route in the form of the hub's ABI. */
export function toRoute({ chain, token, adapter, minAmount, config }: PinnedRoute): Route {
  return { chainId: BigInt(referenceOf(chain)), token: token as Hex, adapter, minAmount, config };
}

/**
 * The Merkle proof of one of the routes: the siblings from its leaf up to the root. Throws a RangeError for another
 * set's route.
 */
export function proofOf(routes: readonly PinnedRoute[], { leaf }: Pick<PinnedRoute, "leaf">): Hex[] {
  return computeRouteProof(
    routes.map(toRoute),
    routes.findIndex((route) => route.leaf === leaf),
  );
}

/** The routes from an asset, at most one of each speed. */
export function routesFrom(routes: readonly PinnedRoute[], asset: { chain: Caip2; token: string }): PinnedRoute[] {
  return routes.filter(({ chain, token }) => chain === asset.chain && token === asset.token);
}

export function hasRouteFrom(routes: readonly PinnedRoute[], asset: { chain: Caip2; token: string }): boolean {
  return routesFrom(routes, asset).length > 0;
}

function toStoredRoute(pinned: PinnedRoute): StoredRoute {
  const { chainId, token, adapter, minAmount, config } = toRoute(pinned);
  return { chainId: chainId.toString(), token, adapter, minAmount: minAmount.toString(), config };
}

function toStoredOrigins(routes: readonly PinnedRoute[]): StoredOrigin[] {
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
