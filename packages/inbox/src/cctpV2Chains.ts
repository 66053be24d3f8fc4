import { publishedChains, solanaUsdc } from "./networks/cctpV2Chains.generated.ts";
import type { Hex } from "./hex.ts";

/** Circle's contracts and token on one EVM chain, in lower case. */
export type CctpV2Chain = {
  /** EIP-155 id. */
  readonly chainId: bigint;
  /** Circle's number of the chain. */
  readonly domain: number;
  /** TokenMessengerV2, which burns. */
  readonly messenger: Hex;
  /** MessageTransmitterV2, which receives. */
  readonly transmitter: Hex;
  /** The USDC that Circle issues there; a bridged USDC of another issuer is not one. */
  readonly usdc: Hex;
};

/** The chains of CCTP version 2 that this release knows. */
export const cctpV2Chains: readonly CctpV2Chain[] = publishedChains;

/** Circle's domain number of Solana. */
export const solanaCctpDomain = 5;

/** The mint that crosses from a public cluster; undefined for one that this release does not know. */
export function findSolanaUsdc(cluster: string): string | undefined {
  return Object.hasOwn(solanaUsdc, cluster) ? solanaUsdc[cluster] : undefined;
}

/** The chain with an EIP-155 id; undefined when this release does not know it. */
export function findCctpV2Chain(chainId: bigint | number): CctpV2Chain | undefined {
  return cctpV2Chains.find((chain) => chain.chainId === BigInt(chainId));
}
