import type {
  ChainEstimates,
  EvmChainConfig,
  ProcessEnvironment,
  Finality,
  FinalityTier,
  NativeCoin,
  TokenConfig,
} from "./config.ts";
import { caip2 } from "../kernel/caip.ts";
import { findGasKeyFile, readGasAccount, readGasKey, type KeyUse } from "./gasKey.ts";
import { readAgreement } from "./agreement.ts";
import { findKnownChain, MAX_FEE_PER_GAS_DEFAULT } from "./knownChains.ts";
import { findRefusedNetwork, refusalOf } from "./networks/refused.ts";
import { readHints } from "./operate/hints.ts";
import { readCctpV2, rejectUnbridgeable } from "./routes/cctpV2.ts";
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
  type ConfigSection,
} from "./section.ts";

const CHAIN_KEYS = [
  "chainId",
  "name",
  "slug",
  "rpcUrls",
  "wsUrls",
  "publicRpcUrl",
  "explorerUrl",
  "native",
  "estimates",
  "gasKeyEnv",
  "gasKeyFile",
  "gasAccount",
  "pollMs",
  "finality",
  "hasForeignBloom",
  "agreement",
  "settleAfterMs",
  "settleBatchMax",
  "maxFeePerGasGwei",
  "tokens",
  "defaultToken",
  "gate",
  "hints",
  "cctp",
] as const;
const TOKEN_KEYS = [
  "symbol",
  "slug",
  "address",
  "decimals",
  "minimumUnits",
  "crossingMinimumUnits",
  "isOrigin",
  "isRail",
  "isIssuing",
  "bridge",
] as const;
const TIER_KEYS = ["upToPriceUnits", "confirmations", "seconds", "tag"] as const;
/** The ways in which a tier says when a block is final. */
const FINALITY_KEYS = ["confirmations", "seconds", "tag"] as const;
const ESTIMATE_KEYS = ["blockMs", "safeMs", "finalizedMs", "feeUsdMax"] as const;
const NATIVE_KEYS = ["name", "symbol", "decimals", "usd"] as const;

const POLL_MS_DEFAULT = 2_000;
const SETTLE_AFTER_MS_DEFAULT = 60_000;
const HOUR_MS = 3_600_000;
/** A longer wait belongs to the chain's own finality. */
const FINALITY_SECONDS_MAX = 3_600;

export type ChainContext = {
  environment: "test" | "live";
  variables: ProcessEnvironment;
  directory: string;
  keys: KeyUse;
};

/** Reads one EVM entry of `chains`. Fields of a public network have defaults. */
export function readChain(value: unknown, path: string, context: ChainContext): EvmChainConfig {
  // A key in the file ends up in backups and version control, so this error comes first.
  if (typeof value === "object" && value !== null && "gasKey" in value) {
    throw new ConfigError(
      `${path}.gasKey: a private key does not belong in this file; name an environment variable in gasKeyEnv or a file in gasKeyFile.`,
    );
  }
  const section = readSection(value, { path, known: CHAIN_KEYS });
  const chainId = readField(section, "chainId", rules.wholeNumber(1, Number.MAX_SAFE_INTEGER));
  const refused = findRefusedNetwork(chainId);
  if (refused !== undefined) throw new ConfigError(`${path}.chainId: ${refusalOf(refused)}`);
  const known = findKnownChain(chainId);
  requireEnvironmentMatch(section, chainId, context.environment);
  const rpcUrls = readList(section, "rpcUrls", (value, path) => readUrl(value, path, context.variables));
  const tokens = readList(section, "tokens", readToken);
  for (const key of ["address", "slug", "symbol"] as const) {
    rejectDuplicates(tokens, { path: `${path}.tokens`, key, of: (token) => token[key] });
  }
  const chain: EvmChainConfig = {
    caip2: caip2("eip155", String(chainId)),
    chainId,
    name: readField(section, "name", { ...rules.text, fallback: known?.name }),
    slug: readField(section, "slug", { ...rules.slug, fallback: known?.slug }),
    rpcUrls,
    wsUrls: hasField(section, "wsUrls") ? readList(section, "wsUrls", readWsUrl) : [],
    publicRpcUrl: readField(section, "publicRpcUrl", {
      ...rules.webUrl,
      expected: `${rules.webUrl.expected}, without your provider's key, because payers see it`,
      fallback: known?.publicRpcUrl,
    }),
    explorerUrl: readField(section, "explorerUrl", { ...rules.baseUrl, fallback: known?.explorerUrl }),
    native: hasField(section, "native") || known === undefined ? readNative(section, known?.native) : known.native,
    estimates: hasField(section, "estimates") ? readEstimates(section) : known?.estimates,
    gasKey: context.keys === "sign" ? readGasKey(section, context) : undefined,
    gasAccount: readGasAccount(section, context),
    gasKeyFile: findGasKeyFile(section, context.directory),
    pollMs: readField(section, "pollMs", {
      ...rules.wholeNumber(100, 60_000),
      fallback: known?.pollMs ?? POLL_MS_DEFAULT,
    }),
    finality: hasField(section, "finality") || known === undefined ? readFinality(section) : known.finality,
    hasForeignBloom: readField(section, "hasForeignBloom", {
      ...rules.flag,
      fallback: known?.hasForeignBloom ?? false,
    }),
    agreement: readAgreement(section, rpcUrls),
    settleAfterMs: readField(section, "settleAfterMs", {
      ...rules.wholeNumber(0, 24 * HOUR_MS),
      fallback: SETTLE_AFTER_MS_DEFAULT,
    }),
    settleBatchMax: readField(section, "settleBatchMax", { ...rules.wholeNumber(1, 100), fallback: 100 }),
    ...(hasField(section, "hints") && { hints: readHints(section, context.variables) }),
    maxFeePerGas: readField(section, "maxFeePerGasGwei", {
      ...rules.gwei,
      fallback: known?.maxFeePerGas ?? MAX_FEE_PER_GAS_DEFAULT,
    }),
    tokens,
    defaultToken: readDefaultToken(section, tokens),
    gate: readField(section, "gate", { ...rules.oneOf("local", "remote"), fallback: "local" }),
    cctp: readCctpV2(section, chainId),
  };
  rejectUnbridgeable(chain, path);
  return chain;
}

function requireEnvironmentMatch(section: ConfigSection, chainId: number, environment: "test" | "live"): void {
  const known = findKnownChain(chainId);
  if (known === undefined || known.isTestnet === (environment === "test")) return;
  const kind = known.isTestnet ? "a test network" : "a real network";
  const remedy = known.isTestnet ? "test" : "live";
  throw new ConfigError(
    `${fieldPath(section, "chainId")}: ${chainId} (${known.name}) is ${kind}; set environment to "${remedy}" or remove the chain.`,
  );
}

/** A URL, in which `${NAME}` stands for an environment variable, so that no provider's key stands in the file. */
export function readUrl(value: unknown, path: string, variables: ProcessEnvironment): string {
  const url =
    typeof value === "string"
      ? value.replaceAll(/\$\{([A-Z_][A-Z0-9_]*)\}/g, (_, name: string) => readUrlVariable(name, path, variables))
      : value;
  return readSecretUrl(url, path, rules.webUrl);
}

function readUrlVariable(name: string, path: string, variables: ProcessEnvironment): string {
  const text = variables[name];
  if (text === undefined || text === "")
    throw new ConfigError(`${path}: the environment variable ${name} is not set; it holds a part of this URL.`);
  return text;
}

export function readWsUrl(value: unknown, path: string): string {
  return readSecretUrl(value, path, rules.wsUrl);
}

/** Errors do not quote the URL, because it contains the provider's key. */
function readSecretUrl(value: unknown, path: string, rule: FieldRule<string>): string {
  const url = rule.parse(value);
  if (url === undefined) throw new ConfigError(`${path}: the value is not accepted; give ${rule.expected}.`);
  return url;
}

function readNative(section: ConfigSection, known: NativeCoin | undefined): NativeCoin {
  const path = fieldPath(section, "native");
  if (!hasField(section, "native")) {
    throw new ConfigError(
      `${path}: missing; give the native coin, such as {"name": "Ether", "symbol": "ETH", "decimals": 18}.`,
    );
  }
  const native = readSection(section.fields["native"], { path, known: NATIVE_KEYS });
  return {
    name: readField(native, "name", { ...rules.text, fallback: known?.name }),
    symbol: readField(native, "symbol", { ...rules.text, fallback: known?.symbol }),
    decimals: readField(native, "decimals", { ...rules.wholeNumber(0, 36), fallback: known?.decimals }),
    ...(hasField(native, "usd") ? { usd: readField(native, "usd", rules.usdAmount) } : {}),
  };
}

function readEstimates(section: ConfigSection): ChainEstimates {
  const path = fieldPath(section, "estimates");
  const estimates = readSection(section.fields["estimates"], { path, known: ESTIMATE_KEYS });
  const duration = rules.wholeNumber(1, HOUR_MS);
  const readDuration = (key: "blockMs" | "safeMs" | "finalizedMs") =>
    hasField(estimates, key) ? readField(estimates, key, duration) : undefined;
  return {
    blockMs: readDuration("blockMs"),
    safeMs: readDuration("safeMs"),
    finalizedMs: readDuration("finalizedMs"),
    feeUsdMax: hasField(estimates, "feeUsdMax") ? readField(estimates, "feeUsdMax", rules.usdAmount) : undefined,
  };
}

function readToken(value: unknown, path: string): TokenConfig {
  const section = readSection(value, { path, known: TOKEN_KEYS });
  const symbol = readField(section, "symbol", rules.text);
  const decimals = readField(section, "decimals", rules.wholeNumber(0, 36));
  return {
    symbol,
    slug: readField(section, "slug", { ...rules.slug, fallback: rules.slug.parse(symbol.toLowerCase()) }),
    address: readField(section, "address", rules.evmAddress),
    decimals,
    // One cent: moving less costs more gas than it is worth.
    minimumUnits: readField(section, "minimumUnits", {
      ...rules.amount,
      fallback: 10n ** BigInt(Math.max(decimals - 2, 0)),
    }),
    ...(hasField(section, "crossingMinimumUnits")
      ? { crossingMinimumUnits: readField(section, "crossingMinimumUnits", rules.amount) }
      : {}),
    isOrigin: readField(section, "isOrigin", { ...rules.flag, fallback: true }),
    isRail: readField(section, "isRail", { ...rules.flag, fallback: true }),
    isIssuing: readField(section, "isIssuing", { ...rules.flag, fallback: true }),
    ...(hasField(section, "bridge") ? { bridge: readField(section, "bridge", rules.oneOf("cctp-v2")) } : {}),
  };
}

function readFinality(section: ConfigSection): FinalityTier[] {
  const path = fieldPath(section, "finality");
  if (!hasField(section, "finality")) {
    throw new ConfigError(`${path}: missing, and this chain has no default; give a list such as [{"seconds": 30}].`);
  }
  const tiers = readList(section, "finality", readTier);
  tiers.forEach((tier, index) => {
    const isLast = index === tiers.length - 1;
    const here = `${path}[${index}].upToPriceUnits`;
    if (isLast && tier.upToPriceUnits !== undefined) {
      throw new ConfigError(`${here}: the last tier has no limit; remove it or add a tier after it.`);
    }
    if (isLast) return;
    if (tier.upToPriceUnits === undefined) {
      throw new ConfigError(`${here}: missing; only the last tier may omit its limit.`);
    }
    if (index > 0 && tier.upToPriceUnits <= (tiers[index - 1]?.upToPriceUnits ?? 0n)) {
      throw new ConfigError(
        `${here}: ${tier.upToPriceUnits} is not above the tier before it; order the tiers from small to large.`,
      );
    }
  });
  return tiers;
}

function readTier(value: unknown, path: string): FinalityTier {
  const section = readSection(value, { path, known: TIER_KEYS });
  if (FINALITY_KEYS.filter((key) => hasField(section, key)).length !== 1)
    throw new ConfigError(`${path}: give either "seconds", "confirmations" or "tag", and only one of them.`);
  const upToPriceUnits = hasField(section, "upToPriceUnits")
    ? readField(section, "upToPriceUnits", rules.amount)
    : undefined;
  return { upToPriceUnits, finality: readFinalityRule(section) };
}

function readFinalityRule(section: ConfigSection): Finality {
  if (hasField(section, "tag")) return { tag: readField(section, "tag", rules.oneOf("safe", "finalized")) };
  if (hasField(section, "seconds"))
    return { seconds: readField(section, "seconds", rules.wholeNumber(1, FINALITY_SECONDS_MAX)) };
  return { confirmations: readField(section, "confirmations", rules.wholeNumber(1, 10_000)) };
}

/** Without one, the only rail of the chain is the default. */
export function readDefaultToken(section: ConfigSection, tokens: readonly TokenConfig[]): string | undefined {
  const rails = tokens.filter((token) => token.isRail).map((token) => token.symbol);
  if (!hasField(section, "defaultToken")) return rails.length === 1 ? rails[0] : undefined;
  const rule =
    rails.length === 0
      ? { ...rules.text, expected: "no default token, because no token here is a rail", parse: () => undefined }
      : rules.oneOf(...rails);
  return readField(section, "defaultToken", rule);
}
