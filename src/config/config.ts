import type { Caip2 } from "../kernel/caip.ts";
import type { Secret } from "../kernel/secret.ts";

/** How final a block is: so many blocks (the block itself is the first), or below the chain's own tag. */
export type Finality = { confirmations: number } | { tag: "safe" | "finalized" };

/** Applies while what an intent has received beyond the next tier's reach stays within `upToPriceUnits`; the last tier has no limit. */
export type FinalityTier = { upToPriceUnits: bigint | undefined; finality: Finality };

/** Of how many providers the word is needed before money is counted or moved. */
export type AgreementPolicy = {
  /** So many distinct providers must say the same. */
  providers: number;
  /**
   * What an intent has received on one provider's word alone may be counted while its sum stays within this; in millionths of the
   * currency. Settling always needs agreement.
   */
  abovePriceUnits: bigint;
};

export type TokenConfig = {
  symbol: string;
  /** Second half of a rail's id, lower case. */
  slug: string;
  /** Stored form: lower case on EVM chains. */
  address: string;
  decimals: number;
  /** Smallest deposit that counts by itself, in the token's units. */
  minimumUnits: bigint;
  /** Payers may deposit it. A token that is neither origin nor rail is retired: nobody new uses it, and what still comes in is found. */
  isOrigin: boolean;
  /** Merchants may be paid in it. */
  isRail: boolean;
  /** False: no source inbox is issued for it any more, while it stays in the lists. True when left out. */
  isIssuing?: boolean;
};

export type ChainConfig = {
  caip2: Caip2;
  chainId: number;
  name: string;
  /** First half of a rail's id, lower case. */
  slug: string;
  /** Asked in this order. At least one. */
  rpcUrls: readonly string[];
  /** Where providers tell of new blocks by themselves (ws:// or wss://). Absent or empty: blocks are only found by asking. */
  wsUrls?: readonly string[] | undefined;
  publicRpcUrl: string;
  explorerUrl: string;
  native: { name: string; symbol: string; decimals: number };
  /** Private key (0x and 64 hex) of the account that pays gas here. It can move no deposit. */
  gasKey: string;
  /** How often the head is asked for while nobody tells of one. */
  pollMs: number;
  /** From the smallest amount to the largest; at least one tier, the last without a limit. */
  finality: readonly FinalityTier[];
  /** Absent: each provider is believed by itself. */
  agreement?: AgreementPolicy | undefined;
  /** How long counted deposits wait for company before they are swept. */
  settleAfterMs: number;
  settleBatchMax: number;
  tokens: readonly TokenConfig[];
  /** Symbol of the token that an account without a currency is paid in here. */
  defaultToken: string | undefined;
  /** Who issues source inboxes here: this service, or the remote gate, which then has a say in each. */
  gate?: "local" | "remote" | undefined;
};

/** What the catalogue tells of a chain, whether or not this service watches it. */
export type ChainDescription = Pick<
  ChainConfig,
  "caip2" | "chainId" | "name" | "slug" | "publicRpcUrl" | "explorerUrl" | "native" | "tokens" | "defaultToken" | "gate"
>;

/** The service that issues source inboxes in our place, or has a say in it. */
export type GateConfig = {
  /** Without a slash at its end. */
  url: string;
  /** What tells it that the question is ours. */
  secret: Secret;
  /** How long one question may take, all in all. */
  timeoutMs: number;
};

export type DatabaseConfig = { kind: "postgres"; url: string } | { kind: "pglite"; directory: string | undefined };

export type Config = {
  /** `live` for real networks; `test` for local chains and public testnets. It is part of every API key. */
  environment: "test" | "live";
  /** What answers link to, without a trailing slash. Never taken from a request. */
  baseUrl: string;
  listen: { host: string; port: number };
  /** Addresses and networks whose X-Forwarded-For is believed; nobody's when left out. */
  trustedProxies?: readonly string[];
  database: DatabaseConfig;
  /** Receives the platform's fee on every EVM chain, in stored form. */
  feeRecipient: string;
  /** EVM chains, which are watched and settled on. */
  chains: readonly ChainConfig[];
  /** Chains of Solana, which are told of and neither watched nor settled on. */
  solanaChains?: readonly ChainDescription[];
  gate?: GateConfig | undefined;
  /** Rail that is the default where an account has none, such as `base:usdc`. */
  defaultRail: string;
  /** Fee of accounts that are created without one, in hundredths of a percent. */
  feeBps?: number;
  logLevel: "silent" | "error" | "warn" | "info" | "debug";
};

/** The environment variables of this process. Nothing else in the program reads them. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

export function readEnvironment(): ProcessEnvironment {
  return process.env;
}
