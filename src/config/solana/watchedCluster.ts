import { isOnCurve } from "@tributary/inbox/solana/curve";
import { parseKey } from "@tributary/inbox/solana/keys";
import { referenceOf } from "../../kernel/caip.ts";
import { readAgreement } from "../agreement.ts";
import { readHints } from "../operate/hints.ts";
import { readDefaultToken, readUrl, readWsUrl, type ChainContext } from "../chain.ts";
import type { SolanaChainConfig, TokenConfig } from "../config.ts";
import * as rules from "../rules.ts";
import {
  ConfigError,
  fieldPath,
  hasField,
  readField,
  readList,
  readSection,
  type ConfigSection,
  type FieldRule,
} from "../section.ts";
import { readClusterFacts } from "./clusters.ts";
import { readFeePayer, readFeePayerAddress } from "./feePayerKey.ts";
import { readPriming } from "./primeAccounts.ts";
import { readProgram } from "./program.ts";
import { rejectUnbridgeableMint, solanaCctp } from "./cctp.ts";
import { readWatchedToken, rejectDuplicateTokens } from "./token.ts";

const WATCHED_KEYS = [
  "namespace",
  "reference",
  "name",
  "slug",
  "rpcUrls",
  "wsUrls",
  "publicRpcUrl",
  "explorerUrl",
  "program",
  "feePayer",
  "feePayerKeyEnv",
  "feePayerKeyFile",
  "feeRecipient",
  "computeUnitPriceMax",
  "primeAccounts",
  "pollMs",
  "agreement",
  "settleAfterMs",
  "settleBatchMax",
  "tokens",
  "defaultToken",
  "gate",
  "hints",
] as const;

const POLL_MS_DEFAULT = 1_000;
const SETTLE_AFTER_MS_DEFAULT = 60_000;
const DAY_MS = 86_400_000;
/** So many inboxes fit into one transaction. */
const SETTLE_BATCH_MAX = 8;
/** About 0.0001 SOL for a transaction of eight inboxes. */
const COMPUTE_UNIT_PRICE_DEFAULT = 1_000_000n;
/** A higher price is more likely in lamports or SOL by mistake; it costs over a SOL for a transaction. */
const COMPUTE_UNIT_PRICE_MAX = 1_000_000_000n;

const computeUnitPriceRule: FieldRule<bigint> = {
  expected: `a price in micro-lamports for each compute unit up to ${COMPUTE_UNIT_PRICE_MAX}, as a string of digits, such as "1000000"`,
  parse: (value) => {
    const price = rules.amount.parse(value);
    return price !== undefined && price <= COMPUTE_UNIT_PRICE_MAX ? price : undefined;
  },
};

/** Whether a Solana entry of `chains` is watched and settled on. */
export function isWatchedCluster(value: object): boolean {
  return Object.hasOwn(value, "rpcUrls");
}

/** Reads a Solana entry of `chains` with `rpcUrls`. Fields of a public cluster have defaults. Throws ConfigError. */
export function readWatchedCluster(value: unknown, path: string, context: ChainContext): SolanaChainConfig {
  // A key in the file ends up in backups and version control, so this error comes first.
  if (typeof value === "object" && value !== null && "feePayerKey" in value) {
    throw new ConfigError(
      `${path}.feePayerKey: a private key does not belong in this file; name an environment variable in feePayerKeyEnv or a file in feePayerKeyFile.`,
    );
  }
  const section = readSection(value, { path, known: WATCHED_KEYS });
  const facts = readClusterFacts(section, context.environment);
  const rpcUrls = readList(section, "rpcUrls", (value, at) => readUrl(value, at, context.variables));
  const tokens = readList(section, "tokens", readWatchedToken);
  rejectDuplicateTokens(tokens, path);
  rejectUnbridgeableMint(tokens, { cluster: referenceOf(facts.caip2), path });
  const program = readProgram(section, referenceOf(facts.caip2));
  const payer = context.keys === "sign" ? readFeePayer(section, context) : readFeePayerAddress(section, context);
  return {
    ...facts,
    rpcUrls,
    wsUrls: hasField(section, "wsUrls") ? readList(section, "wsUrls", readWsUrl) : [],
    pollMs: readField(section, "pollMs", { ...rules.wholeNumber(100, 60_000), fallback: POLL_MS_DEFAULT }),
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    agreement: readAgreement(section, rpcUrls),
    settleAfterMs: readField(section, "settleAfterMs", {
      ...rules.wholeNumber(0, DAY_MS),
      fallback: SETTLE_AFTER_MS_DEFAULT,
    }),
    settleBatchMax: readField(section, "settleBatchMax", {
      ...rules.wholeNumber(1, SETTLE_BATCH_MAX),
      fallback: SETTLE_BATCH_MAX,
    }),
    tokens,
    defaultToken: readDefaultToken(section, tokens),
    gate: readField(section, "gate", { ...rules.oneOf("local", "remote"), fallback: "local" }),
    program,
    ...payer,
    feeRecipient: readFeeRecipient(section, { tokens, others: [program, payer.feePayer] }),
    computeUnitPriceMax: readField(section, "computeUnitPriceMax", {
      ...computeUnitPriceRule,
      fallback: COMPUTE_UNIT_PRICE_DEFAULT,
    }),
    priming: readPriming(section),
    ...(hasField(section, "hints") && { hints: readHints(section, context.variables) }),
    ...(tokens.some(({ bridge }) => bridge !== undefined) && { cctp: solanaCctp }),
  };
}

/** A token account here would get no fee: the fee goes to the token account that belongs to this wallet. */
function readFeeRecipient(
  section: ConfigSection,
  { tokens, others }: { tokens: readonly TokenConfig[]; others: readonly string[] },
): string {
  const wallet = readField(section, "feeRecipient", rules.solanaAddress);
  const bytes = parseKey(wallet);
  const where = fieldPath(section, "feeRecipient");
  const token = tokens.find(({ address }) => address === wallet);
  if (token !== undefined) throw new ConfigError(`${where}: this is the mint of ${token.symbol}; give a wallet.`);
  if (others.includes(wallet))
    throw new ConfigError(
      `${where}: this is the inbox program or the account that pays fees; give a wallet of its own.`,
    );
  if (bytes === undefined || !isOnCurve(bytes))
    throw new ConfigError(
      `${where}: this is no wallet but a token account or another derived address; give the wallet that owns it.`,
    );
  return wallet;
}
