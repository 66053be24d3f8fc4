import extract from "./issuer.generated.json" with { type: "json" };

// What the issuer of USDC publishes, as `extractIssuer.ts` read it.

export type IssuerChain = {
  /** The issuer's own name of the chain. */
  key: string;
  kind: "evm" | "solana";
  chainId: number | null;
  name: string;
  isTestnet: boolean;
  native: { name: string; symbol: string; decimals: number };
  /** With `{hash}` where a transaction's hash stands. */
  explorerUrl: string;
  rpcUrls: readonly string[];
  usdc: string | null;
  eurc: string | null;
  usdt: string | null;
  /** CCTP of version 2, or null. */
  cctp: {
    domain: number;
    messenger: string;
    transmitter: string;
    /** Blocks until the issuer attests a burn of each kind. */
    standardBlocks: number;
    fastBlocks: number;
  } | null;
};

export type IssuerExtract = { package: string; version: string; license: string; chains: readonly IssuerChain[] };

export const ISSUER = extract as IssuerExtract;
