import { cctpV2Speeds, decodeCctpV2Config } from "@tributary/inbox/cctpV2";
import { findCctpV2Chain, type CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { computeRouteProof, hashRoute, type Route } from "@tributary/inbox/routes";
import { zeroBytes32, type Hex } from "@tributary/inbox/terms";
import { verifyRoutes, type RoutesReason } from "@tributary/inbox/verifyRoutes";
import { routesToWire } from "@tributary/inbox/wire";
import type { VerifiedInbox } from "../parseInboxes.ts";

export type BridgeSpeed = keyof typeof cctpV2Speeds;

/** A verified route, with its proof for the hub. */
export type ProvenRoute = {
  readonly speed: BridgeSpeed;
  readonly route: Route;
  readonly proof: readonly Hex[];
  /** The most that Circle can take, in millionths of the amount. */
  readonly feePpmMax: number;
};

/** Whether a token on another chain can be bridged to the settle chain. */
export type BridgePlan =
  /** Anyone may send it. The balance arrives at the same inbox on the settle chain. */
  | { readonly kind: "bridge"; readonly routes: readonly ProvenRoute[] }
  /** The terms have a root, but the input does not list its routes. */
  | { readonly kind: "unlisted" }
  /** A route of this token may lead elsewhere, or its chains are unknown. */
  | { readonly kind: "refused"; readonly reason: RoutesReason }
  /** No route begins with this token on this chain. */
  | { readonly kind: "none" };

export type BridgeLocation = { readonly chainId: bigint; readonly token: Hex };

/**
 * Verifies the routes of a token, and no others: only their chains must be known. `bridges`: chains that this release
 * does not know.
 */
export function planBridge(
  { terms, routes, recipient }: Pick<VerifiedInbox, "terms" | "routes" | "recipient">,
  { chainId, token }: BridgeLocation,
  bridges: readonly CctpV2Chain[] = [],
): BridgePlan {
  const { routesRoot, settleChainId, settleToken } = terms;
  if (chainId === settleChainId || routesRoot === zeroBytes32) return { kind: "none" };
  if (routes === undefined) return { kind: "unlisted" };
  const usable = routes.flatMap((route, index) =>
    route.chainId === chainId && route.token === token ? [{ route, index }] : [],
  );
  for (const { route } of usable) {
    // The root of one route is its leaf. The whole root was compared when the input was parsed.
    const expected = {
      routesRoot: hashRoute(route),
      settleChainId,
      settleToken,
      cctpV2Chains: bridges,
      ...(recipient && { recipient }),
    };
    const verified = verifyRoutes(routesToWire([route]), expected);
    if (!verified.ok) return { kind: "refused", reason: verified.reason };
  }
  if (usable.length === 0) return { kind: "none" };
  return {
    kind: "bridge",
    routes: usable.map(({ route, index }) => toProven(route, computeRouteProof(routes, index))),
  };
}

function toProven(route: Route, proof: readonly Hex[]): ProvenRoute {
  const { finalityThresholdMin, feePpmMax } = decodeCctpV2Config(route.config);
  const speed = finalityThresholdMin === cctpV2Speeds.fast.finalityThresholdMin ? "fast" : "standard";
  return { speed, route, proof, feePpmMax };
}

/** The chains that the routes of an inbox begin on, if they are known; each has its domain. */
export function findOrigins(
  { routes = [] }: Pick<VerifiedInbox, "routes">,
  bridges: readonly CctpV2Chain[],
): CctpV2Chain[] {
  const ids = [...new Set(routes.map(({ chainId }) => chainId))];
  return ids.map((id) => findBridgeChain(id, bridges)).filter((chain) => chain !== undefined);
}

/** Circle's contracts on a chain: an own entry, else a published one. */
export function findBridgeChain(chainId: bigint, bridges: readonly CctpV2Chain[]): CctpV2Chain | undefined {
  return bridges.find((chain) => chain.chainId === chainId) ?? findCctpV2Chain(chainId);
}
