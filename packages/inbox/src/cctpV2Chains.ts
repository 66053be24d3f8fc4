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

const mainnet = {
  messenger: "0x28b5a0e9c621a5badaa536219b3a228c8168cf5d",
  transmitter: "0x81d40f21f12a8f0e3252bccb954d722d4c464b64",
} as const;
const testnet = {
  messenger: "0x8fe6b999dc680ccfdd5bf7eb0974218be2542daa",
  transmitter: "0xe737e5cebeeba77efe34d4aa090756590b1ce275",
} as const;

/** The chains of CCTP version 2 that this release knows. */
export const cctpV2Chains: readonly CctpV2Chain[] = [
  { chainId: 1n, domain: 0, usdc: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", ...mainnet },
  { chainId: 43_114n, domain: 1, usdc: "0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e", ...mainnet },
  { chainId: 10n, domain: 2, usdc: "0x0b2c639c533813f4aa9d7837caf62653d097ff85", ...mainnet },
  { chainId: 42_161n, domain: 3, usdc: "0xaf88d065e77c8cc2239327c5edb3a432268e5831", ...mainnet },
  { chainId: 8_453n, domain: 6, usdc: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", ...mainnet },
  { chainId: 137n, domain: 7, usdc: "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", ...mainnet },
  { chainId: 130n, domain: 10, usdc: "0x078d782b760474a361dda0af3839290b0ef57ad6", ...mainnet },
  { chainId: 59_144n, domain: 11, usdc: "0x176211869ca2b568f2a7d4ee941e073a821ee1ff", ...mainnet },
  { chainId: 11_155_111n, domain: 0, usdc: "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238", ...testnet },
  { chainId: 43_113n, domain: 1, usdc: "0x5425890298aed601595a70ab815c96711a31bc65", ...testnet },
  { chainId: 11_155_420n, domain: 2, usdc: "0x5fd84259d66cd46123540766be93dfe6d43130d7", ...testnet },
  { chainId: 421_614n, domain: 3, usdc: "0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d", ...testnet },
  { chainId: 84_532n, domain: 6, usdc: "0x036cbd53842c5426634e7929541ec2318f3dcf7e", ...testnet },
];

/** Circle's domain number of Solana. */
export const solanaCctpDomain = 5;

/** The USDC that Circle issues on Solana, by the CAIP-2 reference of the cluster. */
const solanaUsdc: Readonly<Record<string, string>> = {
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
};

/** The mint that crosses from a public cluster; undefined for one that this release does not know. */
export function findSolanaUsdc(cluster: string): string | undefined {
  return Object.hasOwn(solanaUsdc, cluster) ? solanaUsdc[cluster] : undefined;
}

/** The chain with an EIP-155 id; undefined when this release does not know it. */
export function findCctpV2Chain(chainId: bigint | number): CctpV2Chain | undefined {
  return cctpV2Chains.find((chain) => chain.chainId === BigInt(chainId));
}
