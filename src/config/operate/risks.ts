import { statSync } from "node:fs";
import { isSolanaChainConfig, type Config, type WatchedChainConfig } from "../config.ts";
import { closestMatch } from "../../kernel/text/closestMatch.ts";
import { ConfigError, hasField, quoteValue, readList, type ConfigSection } from "../section.ts";

// Settings that are accepted for tests and refused for live payments, unless the operator accepts each by its name.

export const RISKS = [
  "singleProvider",
  "unencryptedRpc",
  "readableKeyFile",
  "burnFeeRecipient",
  "unsafeFsync",
] as const;
export type Risk = (typeof RISKS)[number];

/**
 * `where`: the key of the configuration. `problem`: a sentence without its period. `remedy`: what else to do than
 * accept it.
 */
export type FoundRisk = { risk: Risk; where: string; problem: string; remedy: string };

/** Group and other users. */
const OTHERS_MODE = 0o077;
/** Addresses that nobody has the key of. */
const BURN_ADDRESSES = [/^0x0{36,}[0-9a-f]{0,4}$/, /^0x0*dead$/, /^0xdead0*$/];

type RiskyConfig = Pick<Config, "chains" | "feeRecipient">;

/** Finds every risk, in the order of the configuration. */
export function findRisks({ chains, feeRecipient }: RiskyConfig): FoundRisk[] {
  return [
    ...(BURN_ADDRESSES.some((pattern) => pattern.test(feeRecipient)) ? [burnFeeRecipient] : []),
    ...chains.flatMap((chain, index) => findChainRisks(chain, `chains[${index}]`)),
  ];
}

const burnFeeRecipient: FoundRisk = {
  risk: "burnFeeRecipient",
  where: "feeRecipient",
  problem: "nobody has the key of this address, so fees would be lost",
  remedy: "give the address of your wallet",
};

function findChainRisks(chain: WatchedChainConfig, path: string): FoundRisk[] {
  const { rpcUrls } = chain;
  const [keyField, keyFile] = isSolanaChainConfig(chain)
    ? (["feePayerKeyFile", chain.feePayerKeyFile] as const)
    : (["gasKeyFile", chain.gasKeyFile] as const);
  const hosts = new Set(rpcUrls.map((url) => new URL(url).hostname));
  const unencrypted = rpcUrls.findIndex((url) => url.startsWith("http://") && !isLoopback(url));
  return [
    ...(hosts.size > 1
      ? []
      : [
          {
            risk: "singleProvider" as const,
            where: `${path}.rpcUrls`,
            problem: "one provider alone decides which deposits count",
            remedy: "add a URL of another host",
          },
        ]),
    ...(unencrypted < 0
      ? []
      : [
          {
            risk: "unencryptedRpc" as const,
            where: `${path}.rpcUrls[${unencrypted}]`,
            problem: "anyone on the way can change what the chain reports",
            remedy: "give a URL that begins with https://",
          },
        ]),
    ...(keyFile !== undefined && isReadableByOthers(keyFile)
      ? [
          {
            risk: "readableKeyFile" as const,
            where: `${path}.${keyField}`,
            problem: "other users of the machine can read this file",
            remedy: "run chmod 600 on it",
          },
        ]
      : []),
  ];
}

function isLoopback(url: string): boolean {
  return ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
}

function isReadableByOthers(file: string): boolean {
  try {
    return (statSync(file).mode & OTHERS_MODE) !== 0;
  } catch {
    return false;
  }
}

/** Reads the accepted risks. Throws ConfigError for an unknown name. */
export function readAcceptedRisks(section: ConfigSection): Risk[] {
  if (!hasField(section, "acceptRisks")) return [];
  return readList(section, "acceptRisks", (value, path) => {
    const known = RISKS.find((risk) => risk === value);
    if (known !== undefined) return known;
    const meant = typeof value === "string" ? closestMatch(value, RISKS) : undefined;
    const remedy = meant === undefined ? `give one of ${RISKS.join(", ")}` : `did you mean ${meant}?`;
    throw new ConfigError(`${path}: ${quoteValue(value)} is no risk; ${remedy}`);
  });
}

/** Throws ConfigError for the first risk that is not accepted. */
export function rejectRisks(config: RiskyConfig, accepted: readonly Risk[]): void {
  const [found] = findRisks(config).filter(({ risk }) => !accepted.includes(risk));
  if (found === undefined) return;
  const { where, problem, remedy, risk } = found;
  throw new ConfigError(
    `${where}: ${problem}; for live payments ${remedy}, or accept it with "acceptRisks": ["${risk}"].`,
  );
}
