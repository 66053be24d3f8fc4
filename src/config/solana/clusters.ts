import { caip2 } from "../../kernel/caip.ts";
import type { ChainConfig } from "../config.ts";
import { estimatesOf } from "../knownChains.ts";
import { findNetwork } from "../networks/network.ts";
import * as rules from "../rules.ts";
import { ConfigError, fieldPath, readField, type ConfigSection, type FieldRule } from "../section.ts";

// The public facts of a Solana cluster, watched or only listed.

export type Environment = "test" | "live";

/** The chain id of a private cluster. */
const LOCAL_CHAIN_ID = 104;
const NATIVE = { name: "Solana", symbol: "SOL", decimals: 9 } as const;

const referenceRule: FieldRule<string> = {
  expected: "the first 32 characters of the genesis hash, in base58",
  parse: (value) => (typeof value === "string" && /^[1-9A-HJ-NP-Za-km-z]{32}$/.test(value) ? value : undefined),
};

export type ClusterFacts = Pick<
  ChainConfig,
  "caip2" | "chainId" | "name" | "slug" | "publicRpcUrl" | "explorerUrl" | "native" | "estimates"
>;

/** Reads what payers see of a cluster. Fields of a public cluster have defaults. Throws ConfigError. */
export function readClusterFacts(section: ConfigSection, environment: Environment): ClusterFacts {
  const reference = readField(section, "reference", referenceRule);
  const cluster = findNetwork(`solana:${reference}`);
  if (cluster !== undefined && cluster.environment !== environment) {
    throw new ConfigError(
      `${fieldPath(section, "reference")}: ${cluster.name} is ${cluster.environment === "test" ? "a test network" : "a real network"}; set environment to "${cluster.environment}" or remove the chain.`,
    );
  }
  return {
    caip2: caip2("solana", reference),
    chainId: cluster?.chainId ?? LOCAL_CHAIN_ID,
    name: readField(section, "name", { ...rules.text, fallback: cluster?.name }),
    slug: readField(section, "slug", { ...rules.slug, fallback: cluster?.slug }),
    publicRpcUrl: readField(section, "publicRpcUrl", { ...rules.webUrl, fallback: cluster?.rpcUrls[0] }),
    explorerUrl: readField(section, "explorerUrl", { ...rules.baseUrl, fallback: cluster?.explorerUrl }),
    native: cluster?.native ?? NATIVE,
    estimates: cluster && estimatesOf(cluster),
  };
}

/** Whether an entry of `chains` is a Solana cluster; all others are EVM chains. */
export function isSolanaChain(value: unknown): value is object {
  return typeof value === "object" && value !== null && Reflect.get(value, "namespace") === "solana";
}
