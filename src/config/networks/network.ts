import type { Caip2 } from "../../kernel/caip.ts";
import catalogue from "./networks.generated.json" with { type: "json" };

// The catalogue of public networks. scripts/networks writes it from what the issuer of USDC and viem publish.

/** One tier of a network's finality rule. The last has no limit. */
export type NetworkTier = {
  upToPriceUnits?: string;
  seconds?: number;
  confirmations?: number;
  tag?: "safe" | "finalized";
};

export type NetworkToken = { symbol: string; address: string; decimals: number };

/** The issuer's bridge on a network. Times are the issuer's own averages; absent where it publishes none. */
export type NetworkCctp = {
  domain: number;
  messenger: string;
  transmitter: string;
  /** Blocks until the issuer attests a burn. */
  fastBlocks: number;
  standardBlocks: number;
  fastSeconds?: number;
  /** The least and the most. */
  standardSeconds?: readonly number[];
  /** Absent: burns from here have no fast way. */
  fastFeeBps?: number;
};

export type Network = {
  caip2: Caip2;
  kind: "evm" | "solana";
  /** EIP-155 id; on Solana 101 to 103. */
  chainId: number;
  slug: string;
  name: string;
  environment: "live" | "test";
  native: { name: string; symbol: string; decimals: number };
  /** Shows a transaction at `/tx/<hash>`. */
  explorerUrl: string;
  /** Public nodes without keys, one for each operator. Payers' wallets use the first. */
  rpcUrls: readonly string[];
  tokens: readonly NetworkToken[];
  cctp?: NetworkCctp;
  blockMs?: number;
  safeMs?: number;
  finalizedMs?: number;
  feeUsdMax?: string;
  pollMs: number;
  finality: readonly NetworkTier[];
  hasForeignBloom?: boolean;
  maxFeePerGasGwei?: string;
  transactionGasMax?: string;
  /** Rough prices: of gas, with a rollup's share of its data, and of one native coin. */
  usual?: { feePerGasGwei: string; nativeUsd: string };
  /** The announced fork that changes what gas costs; `at` is null without a date. */
  fork?: { name: string; at: string | null };
  /** The key in `sources` of each field. */
  sources: Readonly<Record<string, string>>;
};

export type NetworkSource = { title: string; url?: string; date: string };

type Catalogue = { sources: Readonly<Record<string, NetworkSource>>; networks: readonly Network[] };

const { sources, networks } = catalogue as unknown as Catalogue;

export const NETWORKS: readonly Network[] = networks;
export const NETWORK_SOURCES = sources;

export function findNetwork(caip2: string): Network | undefined {
  return NETWORKS.find((network) => network.caip2 === caip2);
}
