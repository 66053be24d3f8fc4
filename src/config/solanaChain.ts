import { findSolanaProgram } from "@tributary/inbox/solana/program";
import type { ChainDescription, SolanaProgramConfig, TokenConfig } from "./config.ts";
import { caip2 } from "../kernel/caip.ts";
import * as rules from "./rules.ts";
import {
  ConfigError,
  hasField,
  readSection,
  fieldPath,
  readField,
  readList,
  rejectDuplicates,
  type FieldRule,
} from "./section.ts";

const CHAIN_KEYS = [
  "namespace",
  "reference",
  "name",
  "slug",
  "publicRpcUrl",
  "explorerUrl",
  "tokens",
  "rpcUrl",
  "program",
] as const;
const TOKEN_KEYS = ["symbol", "slug", "mint", "decimals", "minimumUnits", "isOrigin", "isRail", "isIssuing"] as const;

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

/** Whether an entry of `chains` is a Solana cluster; all others are EVM chains. */
export function isSolanaChain(value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, "namespace") === "solana";
}

/** Reads one Solana entry of `chains`. Its tokens are origins; the service neither watches it nor settles on it. */
export function readSolanaChain(value: unknown, path: string, environment: "test" | "live"): ChainDescription {
  const section = readSection(value, { path, known: CHAIN_KEYS });
  const clusterReference = readField(section, "reference", referenceRule);
  const cluster = Object.hasOwn(CLUSTERS, clusterReference) ? CLUSTERS[clusterReference] : undefined;
  if (cluster !== undefined && cluster.isTestnet !== (environment === "test")) {
    throw new ConfigError(
      `${fieldPath(section, "reference")}: ${cluster.name} is ${cluster.isTestnet ? "a test network" : "a real network"}; set environment to "${cluster.isTestnet ? "test" : "live"}" or remove the chain.`,
    );
  }
  const tokens = readList(section, "tokens", readToken);
  for (const key of ["address", "slug", "symbol"] as const) {
    const keyName = key === "address" ? "mint" : key;
    rejectDuplicates(tokens, { path: `${path}.tokens`, key: keyName, of: (token) => token[key] });
  }
  return {
    caip2: caip2("solana", clusterReference),
    chainId: cluster?.chainId ?? LOCAL_CHAIN_ID,
    name: readField(section, "name", { ...rules.text, fallback: cluster?.name }),
    slug: readField(section, "slug", { ...rules.slug, fallback: cluster?.slug }),
    publicRpcUrl: readField(section, "publicRpcUrl", { ...rules.webUrl, fallback: cluster?.publicRpcUrl }),
    explorerUrl: readField(section, "explorerUrl", {
      ...rules.baseUrl,
      fallback: cluster === undefined ? undefined : EXPLORER_URL,
    }),
    native: { name: "Solana", symbol: "SOL", decimals: 9 },
    tokens,
    defaultToken: undefined,
    gate: "remote",
  };
}

/**
 * Reads where the inbox program of a cluster is compared: `rpcUrl`, and `program` for a cluster without a published one. Undefined without
 * `rpcUrl`; then nothing is compared.
 */
export function readSolanaProgram(value: unknown, path: string): SolanaProgramConfig | undefined {
  const section = readSection(value, { path, known: CHAIN_KEYS });
  if (!hasField(section, "rpcUrl")) {
    if (hasField(section, "program"))
      throw new ConfigError(`${fieldPath(section, "program")}: it needs rpcUrl, by which the program is compared.`);
    return undefined;
  }
  const reference = readField(section, "reference", referenceRule);
  const published = findSolanaProgram(reference);
  return {
    name: readField(section, "name", { ...rules.text, fallback: CLUSTERS[reference]?.name }),
    address: readField(section, "program", { ...rules.solanaAddress, fallback: published }),
    // It may contain the provider's key.
    rpcUrl: readField(section, "rpcUrl", { ...rules.webUrl, isSecret: true }),
  };
}

function readToken(value: unknown, path: string): TokenConfig {
  const section = readSection(value, { path, known: TOKEN_KEYS });
  if (hasField(section, "isRail") && section.fields["isRail"] !== false) {
    throw new ConfigError(
      `${fieldPath(section, "isRail")}: this version does not settle on Solana, so a token there cannot be a rail; remove isRail.`,
    );
  }
  const symbol = readField(section, "symbol", rules.text);
  const decimals = readField(section, "decimals", rules.wholeNumber(0, 18));
  const isOrigin = readField(section, "isOrigin", { ...rules.flag, fallback: true });
  if (!isOrigin) throw new ConfigError(`${path}.isOrigin: a Solana token must be an origin; remove isOrigin.`);
  return {
    symbol,
    slug: readField(section, "slug", { ...rules.slug, fallback: rules.slug.parse(symbol.toLowerCase()) }),
    address: readField(section, "mint", rules.solanaAddress),
    decimals,
    minimumUnits: readField(section, "minimumUnits", {
      ...rules.amount,
      fallback: 10n ** BigInt(Math.max(decimals - 2, 0)),
    }),
    isOrigin,
    isRail: false,
    isIssuing: readField(section, "isIssuing", { ...rules.flag, fallback: true }),
  };
}
