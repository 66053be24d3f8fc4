import { cctpV2AdapterAddress } from "./cctpV2Adapter.generated.ts";
import { cctpV2MinAmount, cctpV2Speeds, decodeCctpV2Config, type CctpV2Config } from "./cctpV2.ts";
import { findCctpV2Chain, solanaCctpDomain, type CctpV2Chain } from "./cctpV2Chains.ts";
import { parseAddress } from "./checksum.ts";
import { computeRoutesRoot, type Route } from "./routes.ts";
import { routesFromWire, type InboxRoute } from "./wire.ts";
import type { Hex } from "./hex.ts";

/** The verifier's own settings about routes. None is needed for Circle's published contracts. */
export type ExpectedBridges = {
  /** Chains that this release does not know. An entry replaces the built-in one of its chain. */
  readonly cctpV2Chains?: readonly CctpV2Chain[];
  /** The highest accepted cap of a bridge's fee, in parts per million; 10,000 (one percent) by default. */
  readonly feePpmMax?: number;
  /** For a payout on Solana: the token account of the intent's own Solana inbox, 32 bytes. */
  readonly recipient?: Hex;
};

export type ExpectedRoutes = ExpectedBridges & {
  /** Of the inbox's terms, whose address has been verified. */
  readonly routesRoot: string;
  /** EIP-155 id of the payout's chain; 0 for a payout on Solana. */
  readonly settleChainId: bigint | number;
  /** The payout token. */
  readonly settleToken: string;
};

export type RoutesReason =
  | "malformed_routes"
  | "wrong_root"
  | "wrong_adapter"
  | "wrong_chain"
  | "wrong_token"
  | "malformed_config"
  | "wrong_messenger"
  | "wrong_domain"
  | "wrong_finality"
  | "fee_too_high"
  | "wrong_minimum"
  | "wrong_recipient";

/**
 * `index` is the place of the refused route in the list; absent for the first two reasons, which concern the whole
 * list.
 */
export type RoutesVerification =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: RoutesReason; readonly index?: number };

const FEE_PPM_MAX_DEFAULT = 10_000;
const THRESHOLDS: readonly number[] = Object.values(cctpV2Speeds).map(
  ({ finalityThresholdMin }) => finalityThresholdMin,
);

/**
 * Checks that the published routes are those of the root, and that each can only burn Circle's USDC on another chain
 * and mint it to the same inbox on the payout's chain. It needs no network. Only then can nobody but Circle keep money
 * from the inbox.
 */
export function verifyRoutes(routes: readonly InboxRoute[] | undefined, expected: ExpectedRoutes): RoutesVerification {
  let parsed: Route[];
  try {
    parsed = routesFromWire(routes ?? []);
  } catch {
    return { ok: false, reason: "malformed_routes" };
  }
  if (computeRoutesRoot(parsed) !== expected.routesRoot.toLowerCase()) return { ok: false, reason: "wrong_root" };
  for (const [index, route] of parsed.entries()) {
    const reason = checkRoute(route, expected);
    if (reason !== undefined) return { ok: false, reason, index };
  }
  return { ok: true };
}

function checkRoute(route: Route, expected: ExpectedRoutes): RoutesReason | undefined {
  if (route.adapter !== cctpV2AdapterAddress) return "wrong_adapter";
  const origin = findChain(route.chainId, expected);
  if (origin === undefined || route.chainId === BigInt(expected.settleChainId)) return "wrong_chain";
  if (route.token !== origin.usdc) return "wrong_token";
  let config: CctpV2Config;
  try {
    config = decodeCctpV2Config(route.config);
  } catch {
    return "malformed_config";
  }
  if (config.messenger !== origin.messenger) return "wrong_messenger";
  if (!THRESHOLDS.includes(config.finalityThresholdMin)) return "wrong_finality";
  // Written so that a limit that is not a number accepts nothing.
  if (!(config.feePpmMax <= (expected.feePpmMax ?? FEE_PPM_MAX_DEFAULT))) return "fee_too_high";
  // A higher one keeps deposits below it on their chain.
  if (route.minAmount > cctpV2MinAmount(config.feePpmMax)) return "wrong_minimum";
  return checkDestination(config, expected);
}

function checkDestination({ domain, recipient }: CctpV2Config, expected: ExpectedRoutes): RoutesReason | undefined {
  if (BigInt(expected.settleChainId) === 0n) {
    if (domain !== solanaCctpDomain) return "wrong_domain";
    const isOwn = recipient !== undefined && recipient === expected.recipient?.toLowerCase();
    return isOwn ? undefined : "wrong_recipient";
  }
  const settle = findChain(BigInt(expected.settleChainId), expected);
  if (settle === undefined || domain !== settle.domain) return "wrong_domain";
  // The bridge mints USDC there, which an inbox of another token never pays out.
  if (parseAddress(expected.settleToken) !== settle.usdc) return "wrong_token";
  // Zero: the adapter pays the inbox's own address.
  return recipient === undefined ? undefined : "wrong_recipient";
}

/** The caller's entry, else the built-in one, with addresses in lower case. */
function findChain(chainId: bigint, { cctpV2Chains = [] }: ExpectedRoutes): CctpV2Chain | undefined {
  const chain = cctpV2Chains.find((own) => BigInt(own.chainId) === chainId) ?? findCctpV2Chain(chainId);
  const [messenger, usdc] = [parseAddress(chain?.messenger), parseAddress(chain?.usdc)];
  return chain && messenger && usdc && { ...chain, messenger, usdc };
}
