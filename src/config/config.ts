import { namespaceOf, type Caip2 } from "../kernel/caip.ts";
import type { Secret } from "../kernel/secret.ts";
import type { Role } from "./operate/roles.ts";

/**
 * When a block is final: after a number of blocks (the block itself is the first), after seconds on the chain's own
 * clock and with another block above it, or at or below the chain's tag.
 */
export type Finality = { confirmations: number } | { seconds: number } | { tag: "safe" | "finalized" };

/**
 * A tier applies while an intent's deposits that are not final by the next tier sum to at most `upToPriceUnits`, in
 * millionths of the currency. The last tier has no limit.
 */
export type FinalityTier = { upToPriceUnits: bigint | undefined; finality: Finality };

/** How many providers must agree before the service counts or moves money. */
export type AgreementPolicy = {
  /** Number of distinct hosts that must agree. */
  providers: number;
  /**
   * One provider suffices while an intent's sum of such deposits stays within this limit, in millionths of the
   * currency. Settling always needs agreement.
   */
  abovePriceUnits: bigint;
};

/** What payers are told about a chain, beside the word "about". Rough figures; nothing depends on them. */
export type ChainEstimates = {
  /** Between two blocks. */
  blockMs?: number | undefined;
  /** From a block until it is below the chain's tag. */
  safeMs?: number | undefined;
  finalizedMs?: number | undefined;
  /** What a plain token transfer costs at most, in US dollars, such as "0.02". */
  feeUsdMax?: string | undefined;
};

/** Powers of an issuer over every balance of its mint on Solana. */
export const ISSUER_POWERS = ["permanentDelegate", "pausable"] as const;
export type IssuerPower = (typeof ISSUER_POWERS)[number];

/** `usd`: what one coin costs in US dollars, as the operator gives it. Absent: unknown. */
export type NativeCoin = { name: string; symbol: string; decimals: number; usd?: string | undefined };

export type TokenConfig = {
  symbol: string;
  /** Second half of a rail's id, lower case. */
  slug: string;
  /** Stored form: lower case on EVM chains. */
  address: string;
  decimals: number;
  /** Smallest deposit that counts on its own, in the token's smallest units. */
  minimumUnits: bigint;
  /**
   * Of a rail: the smallest deposit on another chain that crosses to it alone, in its smallest units. Absent: the
   * origin's minimum decides.
   */
  crossingMinimumUnits?: bigint | undefined;
  /**
   * Payers may deposit it. A token that is neither origin nor rail is retired: new intents cannot use it, late deposits
   * are still found.
   */
  isOrigin: boolean;
  /** Merchants may be paid in it. */
  isRail: boolean;
  /** False stops new source inboxes; the token stays in the lists. Default true. */
  isIssuing?: boolean;
  /** The program that owns the mint. Absent on EVM chains; on Solana absent means the Token program. */
  tokenProgram?: string | undefined;
  /** What the operator accepts of the mint on Solana, because its issuer is trusted. Absent: nothing. */
  acceptedExtensions?: readonly IssuerPower[] | undefined;
  /** The bridge by which it reaches the rails of other chains that have the same bridge. Absent: none. */
  bridge?: "cctp-v2" | undefined;
};

/** Circle's contracts on a chain, or its programs on Solana. Addresses in stored form. */
export type CctpV2Contracts = {
  /** Circle's number of the chain. */
  domain: number;
  /** TokenMessengerV2, which burns. */
  messenger: string;
  /** MessageTransmitterV2, which receives. */
  transmitter: string;
};

/**
 * Limits for the accounts that the service creates for inboxes before payers pay. Each locks some of the fee payer's
 * coins until it is closed.
 */
export type PrimingConfig = {
  /** How many may be open at once, on the whole chain. */
  openTotal: number;
  /** How many of them may belong to intents of one merchant account. */
  openPerAccount: number;
  /** How many are created for one merchant account in an hour. */
  hourlyPerAccount: number;
  /** How long an unused one stays open after the last report of a payer's view. */
  keepMs: number;
};

/** Providers whose streams of transfers may say that an inbox was paid. Each has a proof of its own. */
export const HINT_PROVIDERS = ["alchemy", "quicknode", "helius"] as const;
export type HintProvider = (typeof HINT_PROVIDERS)[number];

/** `secret`: undefined in a process whose environment does not have it, which then takes no hint. */
export type HintSource = { provider: HintProvider; secret: Secret | undefined };

/** A chain that the service watches and settles on, of any kind: what all code above the kinds reads. */
export type ChainConfig = {
  caip2: Caip2;
  chainId: number;
  name: string;
  /** First half of a rail's id, lower case. */
  slug: string;
  /** Tried in this order. At least one. */
  rpcUrls: readonly string[];
  /** WebSocket URLs that push new blocks (ws:// or wss://). Absent or empty: the service only polls. */
  wsUrls?: readonly string[] | undefined;
  publicRpcUrl: string;
  explorerUrl: string;
  native: NativeCoin;
  estimates?: ChainEstimates | undefined;
  /** Polling interval for the head while no WebSocket pushes it. */
  pollMs: number;
  /** Ordered from the smallest limit to the largest; at least one tier. The last has no limit. */
  finality: readonly FinalityTier[];
  /** Absent: one provider suffices. */
  agreement?: AgreementPolicy | undefined;
  /** How long a counted deposit waits for others before one transaction settles them together. */
  settleAfterMs: number;
  settleBatchMax: number;
  tokens: readonly TokenConfig[];
  /** Symbol of the payout token for accounts without a currency. */
  defaultToken: string | undefined;
  /** Issuer of source inboxes: this service alone, or with the remote gate's approval of each. */
  gate?: "local" | "remote" | undefined;
  /** Absent: the chain has no bridge. */
  cctp?: CctpV2Contracts | undefined;
  /** Providers that may say by their webhooks where to look. Absent: none. */
  hints?: readonly HintSource[] | undefined;
  /** Absent: the service creates no accounts for inboxes. */
  priming?: PrimingConfig | undefined;
};

export type EvmChainConfig = ChainConfig & {
  /**
   * Private key (0x and 64 hex digits) of the account that pays gas here. It cannot move deposits. Undefined in a
   * process without the role `settle`.
   */
  gasKey: string | undefined;
  /**
   * The key's address, lower case. A process without the role `settle` needs it. Empty: a command that does not know
   * it.
   */
  gasAccount?: string | undefined;
  /** The file that holds the key; absent when a variable does. */
  gasKeyFile?: string | undefined;
  /** The fee ceiling in wei per gas. No transaction is signed above it. */
  maxFeePerGas: bigint;
  /** Whether its headers may hold the bloom of other blocks, which then says nothing about their own. Absent: no. */
  hasForeignBloom?: boolean | undefined;
};

export type SolanaChainConfig = ChainConfig & {
  /** Address of the inbox program. */
  program: string;
  /**
   * Address of the account that pays fees and gets the rent of closed accounts. It cannot move deposits. Empty: a
   * command that does not know it.
   */
  feePayer: string;
  /**
   * The fee payer's key pair: base58 of 64 bytes, the secret and the public key. Undefined in a process without the
   * role
   * `settle`.
   */
  feePayerKey: string | undefined;
  /** The file that holds the key; absent when a variable does. */
  feePayerKeyFile?: string | undefined;
  /** The wallet that receives the platform fee here. */
  feeRecipient: string;
  /**
   * The ceiling of the priority fee, in millionths of a lamport for each compute unit. No transaction is signed above
   * it.
   */
  computeUnitPriceMax: bigint;
};

/** One watched chain with the settings of its kind. */
export type WatchedChainConfig = EvmChainConfig | SolanaChainConfig;

/** The public facts of a chain, watched or not. */
export type ChainDescription = Pick<
  ChainConfig,
  | "caip2"
  | "chainId"
  | "name"
  | "slug"
  | "publicRpcUrl"
  | "explorerUrl"
  | "native"
  | "estimates"
  | "tokens"
  | "defaultToken"
  | "gate"
>;

/** The inbox program of a Solana cluster, which the start compares with this release. */
export type SolanaProgramConfig = {
  caip2: Caip2;
  /** Name of the cluster. */
  name: string;
  /** The program's address. */
  address: string;
  rpcUrl: string;
};

/** The remote gate, which issues or approves source inboxes. */
export type GateConfig = {
  /** Without a trailing slash. */
  url: string;
  /** Authenticates this service to the gate. */
  secret: Secret;
  /** Time limit for one request in total. */
  timeoutMs: number;
};

/** The service of the bridge, which proves burns. */
export type BridgeConfig = {
  /** Without a trailing slash. */
  attestationUrl: string;
  /**
   * Deposits cross fast while the bridge asks for no more than this, in millionths of the amount; otherwise they wait
   * for finality.
   */
  fastFeePpmMax: number;
  /** A crossing is received at once if it is worth this many times what its mint costs. Absent: once. */
  mintCostMultiple?: number | undefined;
};

/** How long rows stay that no money depends on, in days. */
export type RetentionConfig = {
  /** What each provider answered about a deposit, after they agreed. */
  verificationsDays: number;
  /** The signed bytes of a transaction, after it closed. */
  transactionsDays: number;
  /** Events; undefined keeps them permanently. */
  eventsDays: number | undefined;
  /** Deliveries of webhooks, with their tries, after they ended. */
  deliveriesDays: number;
};

/** Who is informed about alarms, beside the log. */
export type AlarmsConfig = {
  /** Receives each notice as a POST of JSON. It may contain a token. */
  webhookUrl: Secret | undefined;
  /** A program and its arguments. It receives each notice as JSON on standard input. */
  command: readonly [program: string, ...args: string[]] | undefined;
};

/** Networks in CIDR notation. Requests to URLs of merchants reach public addresses, and these; `deny` wins. */
export type OutboundConfig = { allow: readonly string[]; deny: readonly string[] };

/** Where `/metrics` is served, apart from the API. */
/** The URL of a collector for spans, such as `http://127.0.0.1:4318/v1/traces`. */
export type TracingConfig = { otlpUrl: string };

export type MetricsConfig = { host: string; port: number };

/**
 * `schema` holds every table of this installation; by default the first that exists of the role's search_path.
 * `replicaUrl` leads to a standby for reads that may be some seconds old.
 */
export type DatabaseConfig =
  | {
      kind: "postgres";
      url: string;
      schema?: string | undefined;
      replicaUrl?: string | undefined;
      acceptsUnsafeFsync?: boolean;
    }
  | { kind: "pglite"; directory: string | undefined };

export type Config = {
  /** What this process does. Absent: everything. */
  roles?: ReadonlySet<Role>;
  /** `live` for real networks; `test` for local chains and public testnets. Part of every API key. */
  environment: "test" | "live";
  /** Base of all links in responses, without a trailing slash. Requests never change it. */
  baseUrl: string;
  listen: { host: string; port: number };
  /** How long the service still answers after SIGTERM. Absent: not at all. */
  leaveMs?: number;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. Default none. */
  trustedProxies?: readonly string[];
  database: DatabaseConfig;
  /** Receives the platform fee on every EVM chain. Lower case. */
  feeRecipient: string;
  /** The chains that the service watches and settles on. */
  chains: readonly WatchedChainConfig[];
  /** Solana clusters without `rpcUrls`. The API lists them; the service neither watches them nor settles on them. */
  solanaChains?: readonly ChainDescription[];
  /** Of the Solana clusters with `rpcUrls` or an `rpcUrl`. */
  solanaPrograms?: readonly SolanaProgramConfig[];
  gate?: GateConfig | undefined;
  /** Absent where no token has a bridge. */
  bridge?: BridgeConfig | undefined;
  /** Absent: the defaults. */
  retention?: RetentionConfig;
  /** How long a signed change of an account's payout waits. Absent: 48 hours where `environment` is live, else none. */
  payoutChangeDelayHours?: number;
  /** Absent: alarms are only logged and shown. */
  alarms?: AlarmsConfig;
  /** Absent: public addresses only. */
  outbound?: OutboundConfig;
  /** Absent: no metrics are served. */
  metrics?: MetricsConfig | undefined;
  /** Absent: no spans. */
  tracing?: TracingConfig | undefined;
  /** Default rail of accounts without one, such as `base:usdc`. */
  defaultRail: string;
  /** Default fee of new accounts, in hundredths of a percent. */
  feeBps?: number;
  /** Whom payers ask whose merchant names nobody: an https: or mailto: link. */
  support?: string | undefined;
  logLevel: "silent" | "error" | "warn" | "info" | "debug";
};

export function isEvmChainConfig(chain: WatchedChainConfig): chain is EvmChainConfig {
  return namespaceOf(chain.caip2) === "eip155";
}

export function isSolanaChainConfig(chain: ChainConfig): chain is SolanaChainConfig {
  return namespaceOf(chain.caip2) === "solana";
}

/** The environment variables. Only `readEnvironment` reads them from the process. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

export function readEnvironment(): ProcessEnvironment {
  return process.env;
}
