import { caip2 } from "../../kernel/caip.ts";
import type { ChainConfig } from "../config.ts";
import * as rules from "../rules.ts";
import { ConfigError, fieldPath, readField, type ConfigSection, type FieldRule } from "../section.ts";

// The public facts of a Solana cluster, watched or only listed.

export type Environment = "test" | "live";

type Cluster = { chainId: number; name: string; slug: string; publicRpcUrl: string; isTestnet: boolean };

/** The public clusters by CAIP-2 reference, the first 32 characters of the genesis hash. */
const CLUSTERS: Readonly<Record<string, Cluster>> = {
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": {
    chainId: 101,
    name: "Solana",
    slug: "solana",
    publicRpcUrl: "https://api.mainnet-beta.solana.com",
    isTestnet: false,
  },
  "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3": {
    chainId: 102,
    name: "Solana Testnet",
    slug: "solana-testnet",
    publicRpcUrl: "https://api.testnet.solana.com",
    isTestnet: true,
  },
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1: {
    chainId: 103,
    name: "Solana Devnet",
    slug: "solana-devnet",
    publicRpcUrl: "https://api.devnet.solana.com",
    isTestnet: true,
  },
};
/** The chain id of a private cluster. */
const LOCAL_CHAIN_ID = 104;
const EXPLORER_URL = "https://explorer.solana.com";

const referenceRule: FieldRule<string> = {
  expected: "the first 32 characters of the genesis hash, in base58",
  parse: (value) => (typeof value === "string" && /^[1-9A-HJ-NP-Za-km-z]{32}$/.test(value) ? value : undefined),
};

const ESTIMATES = { blockMs: 400, finalizedMs: 13_000, feeUsdMax: "0.01" } as const;

export type ClusterFacts = Pick<
  ChainConfig,
  "caip2" | "chainId" | "name" | "slug" | "publicRpcUrl" | "explorerUrl" | "native" | "estimates"
>;

/** Reads what payers see of a cluster. Fields of a public cluster have defaults. Throws ConfigError. */
export function readClusterFacts(section: ConfigSection, environment: Environment): ClusterFacts {
  const reference = readField(section, "reference", referenceRule);
  const cluster = Object.hasOwn(CLUSTERS, reference) ? CLUSTERS[reference] : undefined;
  if (cluster !== undefined && cluster.isTestnet !== (environment === "test")) {
    throw new ConfigError(
      `${fieldPath(section, "reference")}: ${cluster.name} is ${cluster.isTestnet ? "a test network" : "a real network"}; set environment to "${cluster.isTestnet ? "test" : "live"}" or remove the chain.`,
    );
  }
  return {
    caip2: caip2("solana", reference),
    chainId: cluster?.chainId ?? LOCAL_CHAIN_ID,
    name: readField(section, "name", { ...rules.text, fallback: cluster?.name }),
    slug: readField(section, "slug", { ...rules.slug, fallback: cluster?.slug }),
    publicRpcUrl: readField(section, "publicRpcUrl", { ...rules.webUrl, fallback: cluster?.publicRpcUrl }),
    explorerUrl: readField(section, "explorerUrl", {
      ...rules.baseUrl,
      fallback: cluster === undefined ? undefined : EXPLORER_URL,
    }),
    native: { name: "Solana", symbol: "SOL", decimals: 9 },
    estimates: cluster === undefined ? undefined : ESTIMATES,
  };
}

/** Whether an entry of `chains` is a Solana cluster; all others are EVM chains. */
export function isSolanaChain(value: unknown): value is object {
  return typeof value === "object" && value !== null && Reflect.get(value, "namespace") === "solana";
}
