import { findCctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import type { Hex } from "@tributary/inbox/terms";
import type { BridgeConfig, ChainConfig, CctpV2Contracts, TokenConfig } from "../config.ts";
import * as rules from "../rules.ts";
import { ConfigError, fieldPath, hasField, readField, readSection, type ConfigSection } from "../section.ts";

// Circle's Cross-Chain Transfer Protocol: where its contracts are, and which tokens cross by it. Without such a token
// nothing has a route.

const CCTP_KEYS = ["domain", "messenger", "transmitter"] as const;
const DOMAIN_MAX = 2 ** 32 - 1;

/** Reads `cctp` of a chain. Absent: the published contracts of a known chain. False: none. */
export function readCctpV2(section: ConfigSection, chainId: number): CctpV2Contracts | undefined {
  const value = section.fields["cctp"];
  if (value === false) return undefined;
  const known = findCctpV2Chain(chainId);
  if (value === undefined || value === null) {
    return known && { domain: known.domain, messenger: known.messenger, transmitter: known.transmitter };
  }
  const contracts = readSection(value, { path: fieldPath(section, "cctp"), known: CCTP_KEYS });
  return {
    domain: readField(contracts, "domain", { ...rules.wholeNumber(0, DOMAIN_MAX), fallback: known?.domain }),
    messenger: readAddress(contracts, "messenger", known?.messenger),
    transmitter: readAddress(contracts, "transmitter", known?.transmitter),
  };
}

function readAddress(section: ConfigSection, key: "messenger" | "transmitter", fallback: Hex | undefined): Hex {
  return readField(section, key, { ...rules.evmAddress, fallback }) as Hex;
}

const BRIDGE_KEYS = ["attestationUrl", "fastFeePpmMax", "receiptCostMultiple"] as const;
/** Circle's attestation service. */
const ATTESTATION_URLS = { live: "https://iris-api.circle.com", test: "https://iris-api-sandbox.circle.com" } as const;
/** Five hundredths of a percent. */
const FAST_FEE_PPM_DEFAULT = 500;
const FAST_FEE_PPM_MAX = 3_000;
const RECEIPT_COST_MULTIPLE_MAX = 1_000;

/** Reads `bridge`, the service that proves burns. Undefined when no token has a bridge. Throws ConfigError. */
export function readBridge(
  section: ConfigSection,
  { environment, chains }: { environment: "test" | "live"; chains: readonly Pick<ChainConfig, "tokens">[] },
): BridgeConfig | undefined {
  const isUsed = chains.some(({ tokens }) => tokens.some(({ bridge }) => bridge !== undefined));
  if (!isUsed && !hasField(section, "bridge")) return undefined;
  if (!isUsed)
    throw new ConfigError('bridge: no token crosses by a bridge; give tokens "bridge": "cctp-v2", or remove bridge.');
  const bridge = readSection(section.fields["bridge"] ?? {}, { path: "bridge", known: BRIDGE_KEYS });
  const attestationUrl = readField(bridge, "attestationUrl", {
    ...rules.baseUrl,
    fallback: ATTESTATION_URLS[environment],
  });
  if (environment === "live" && !attestationUrl.startsWith("https://"))
    throw new ConfigError(
      "bridge.attestationUrl: answers could be altered on their way; give a URL that begins with https://.",
    );
  return {
    attestationUrl,
    fastFeePpmMax: readField(bridge, "fastFeePpmMax", {
      ...rules.wholeNumber(0, FAST_FEE_PPM_MAX),
      fallback: FAST_FEE_PPM_DEFAULT,
    }),
    ...(hasField(bridge, "receiptCostMultiple")
      ? {
          mintCostMultiple: readField(bridge, "receiptCostMultiple", rules.wholeNumber(0, RECEIPT_COST_MULTIPLE_MAX)),
        }
      : {}),
  };
}

/** Rejects a token whose `bridge` cannot carry it. Throws ConfigError. */
export function rejectUnbridgeable(
  chain: Pick<ChainConfig, "chainId" | "cctp" | "tokens" | "name">,
  path: string,
): void {
  const bridged = chain.tokens.flatMap((token, index) =>
    token.bridge === undefined ? [] : [{ token, path: `${path}.tokens[${index}]` }],
  );
  const [first, second] = bridged;
  if (first === undefined) return;
  if (chain.cctp === undefined) {
    const remedy = findCctpV2Chain(chain.chainId) === undefined ? "give cctp of the chain" : "remove cctp: false";
    throw new ConfigError(
      `${first.path}.bridge: ${chain.name} has no contracts of the bridge; ${remedy} or remove bridge.`,
    );
  }
  if (second !== undefined)
    throw new ConfigError(`${second.path}.bridge: the bridge carries one token of a chain; remove bridge from one.`);
  const known = findCctpV2Chain(chain.chainId);
  if (known !== undefined && known.messenger === chain.cctp.messenger && known.usdc !== first.token.address) {
    throw new ConfigError(
      `${first.path}.bridge: the bridge carries only Circle's USDC, here ${known.usdc}; remove bridge from this token.`,
    );
  }
}

/** Rejects chains between which the bridge cannot carry the token. Throws ConfigError. */
export function rejectBridgeConflicts(chains: readonly Pick<ChainConfig, "cctp" | "tokens">[]): void {
  const sides = chains.flatMap(({ cctp, tokens }, index) => {
    const token = tokens.find(({ bridge }) => bridge !== undefined);
    return cctp === undefined || token === undefined ? [] : [{ cctp, token, path: `chains[${index}]` }];
  });
  sides.forEach((side, index) => {
    for (const other of sides.slice(0, index)) rejectConflict(side, other);
  });
}

type Side = { cctp: CctpV2Contracts; token: TokenConfig; path: string };

function rejectConflict(side: Side, other: Side): void {
  if (side.cctp.domain === other.cctp.domain) {
    throw new ConfigError(
      `${side.path}.cctp.domain: ${side.cctp.domain} is already the domain of ${other.path}; every chain has its own.`,
    );
  }
  // The bridge mints as many units as it burns.
  if (side.token.decimals !== other.token.decimals) {
    throw new ConfigError(
      `${side.path}.tokens: ${side.token.symbol} has ${side.token.decimals} decimals, and ${other.token.decimals} at ${other.path}; the bridge needs equal ones.`,
    );
  }
}
