import { token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { ISSUER_POWERS, type IssuerPower, type TokenConfig } from "../config.ts";
import * as rules from "../rules.ts";
import {
  ConfigError,
  fieldPath,
  hasField,
  readField,
  readList,
  readSection,
  rejectDuplicates,
  type ConfigSection,
} from "../section.ts";

const LISTED_KEYS = ["symbol", "slug", "mint", "decimals", "minimumUnits", "isOrigin", "isRail", "isIssuing"] as const;
const WATCHED_KEYS = [...LISTED_KEYS, "tokenProgram", "acceptedExtensions", "bridge", "crossingMinimumUnits"] as const;
/** A mint has one byte for its decimals, and no stablecoin has more than these. */
const DECIMALS_MAX = 18;

/** Reads a token of a cluster that is only listed: an origin, and no rail. */
export function readListedToken(value: unknown, path: string): TokenConfig {
  const section = readSection(value, { path, known: LISTED_KEYS });
  if (hasField(section, "isRail") && section.fields["isRail"] !== false) {
    throw new ConfigError(
      `${fieldPath(section, "isRail")}: the service settles only on clusters with rpcUrls; give rpcUrls of the chain, or remove isRail.`,
    );
  }
  const isOrigin = readField(section, "isOrigin", { ...rules.flag, fallback: true });
  if (!isOrigin)
    throw new ConfigError(`${path}.isOrigin: a token of a listed cluster must be an origin; remove isOrigin.`);
  return { ...readMint(section), isOrigin, isRail: false };
}

/** Reads a token of a watched cluster. */
export function readWatchedToken(value: unknown, path: string): TokenConfig {
  const section = readSection(value, { path, known: WATCHED_KEYS });
  return {
    ...readMint(section),
    isOrigin: readField(section, "isOrigin", { ...rules.flag, fallback: true }),
    isRail: readField(section, "isRail", { ...rules.flag, fallback: true }),
    tokenProgram: readField(section, "tokenProgram", {
      ...rules.oneOf(tokenProgram, token2022Program),
      fallback: tokenProgram,
    }),
    ...(hasField(section, "acceptedExtensions") && {
      acceptedExtensions: readList(section, "acceptedExtensions", readIssuerPower),
    }),
    ...(hasField(section, "bridge") && readBridge(section)),
  };
}

/** Each receipt locks about 0.001 SOL permanently, so a crossing of less than a dollar is not worth one. */
function readBridge(section: ConfigSection): Pick<TokenConfig, "bridge" | "crossingMinimumUnits"> {
  const decimals = readField(section, "decimals", rules.wholeNumber(0, DECIMALS_MAX));
  return {
    bridge: readField(section, "bridge", rules.oneOf("cctp-v2")),
    crossingMinimumUnits: readField(section, "crossingMinimumUnits", {
      ...rules.amount,
      fallback: 10n ** BigInt(decimals),
    }),
  };
}

function readIssuerPower(value: unknown, path: string): IssuerPower {
  const rule = rules.oneOf(...ISSUER_POWERS);
  const power = rule.parse(value);
  if (power === undefined) throw new ConfigError(`${path}: give ${rule.expected}.`);
  return power;
}

function readMint(section: ConfigSection): Omit<TokenConfig, "isOrigin" | "isRail"> {
  const symbol = readField(section, "symbol", rules.text);
  const decimals = readField(section, "decimals", rules.wholeNumber(0, DECIMALS_MAX));
  return {
    symbol,
    slug: readField(section, "slug", { ...rules.slug, fallback: rules.slug.parse(symbol.toLowerCase()) }),
    address: readField(section, "mint", rules.solanaAddress),
    decimals,
    minimumUnits: readField(section, "minimumUnits", {
      ...rules.amount,
      fallback: 10n ** BigInt(Math.max(decimals - 2, 0)),
    }),
    isIssuing: readField(section, "isIssuing", { ...rules.flag, fallback: true }),
  };
}

export function rejectDuplicateTokens(tokens: readonly TokenConfig[], path: string): void {
  for (const key of ["address", "slug", "symbol"] as const) {
    const keyName = key === "address" ? "mint" : key;
    rejectDuplicates(tokens, { path: `${path}.tokens`, key: keyName, of: (token) => token[key] });
  }
}
