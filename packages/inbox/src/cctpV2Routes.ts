import { cctpV2AdapterAddress } from "./cctpV2Adapter.generated.ts";
import { cctpV2MinAmount, cctpV2Speeds, encodeCctpV2Config } from "./cctpV2.ts";
import { hashRoute, type Route } from "./routes.ts";
import type { CctpV2Chain } from "./cctpV2Chains.ts";
import type { Hex } from "./hex.ts";

/** Where the routes lead. */
export type CctpV2Destination = {
  /** EIP-155 id; 0 for a payout on Solana. */
  readonly chainId: bigint;
  /** Circle's domain number. */
  readonly domain: number;
  /** The token account of the intent's own Solana inbox; only for a payout on Solana. */
  readonly recipient?: Hex;
};

/** A chain of a deposit. */
export type CctpV2Origin = Pick<CctpV2Chain, "chainId" | "messenger" | "usdc">;

/**
 * Two routes for each origin, fast and standard, ordered by their leaf hash: the order of the root. Throws a RangeError
 * when an origin is the destination or is given twice.
 */
export function buildCctpV2Routes(options: { settle: CctpV2Destination; origins: readonly CctpV2Origin[] }): Route[] {
  const { settle, origins } = options;
  if (new Set(origins.map(({ chainId }) => chainId)).size < origins.length)
    throw new RangeError("each origin must be another chain");
  return origins
    .flatMap((origin) => Object.values(cctpV2Speeds).map((speed) => buildRoute(origin, settle, speed)))
    .map((route) => ({ route, leaf: hashRoute(route) }))
    .toSorted((one, other) => (one.leaf < other.leaf ? -1 : 1))
    .map(({ route }) => route);
}

function buildRoute(
  origin: CctpV2Origin,
  settle: CctpV2Destination,
  speed: { finalityThresholdMin: number; feePpmMax: number },
): Route {
  if (origin.chainId === settle.chainId) throw new RangeError(`chain ${origin.chainId} is the destination itself`);
  const { domain, recipient } = settle;
  const config = { messenger: origin.messenger, domain, ...speed, ...(recipient === undefined ? {} : { recipient }) };
  return {
    chainId: origin.chainId,
    token: origin.usdc,
    adapter: cctpV2AdapterAddress,
    minAmount: cctpV2MinAmount(speed.feePpmMax),
    config: encodeCctpV2Config(config),
  };
}
