// Generated from the API's document; do not edit. npm run generate -w @tributary/client

/** What a call asks for when its client says nothing else. */
export const API_VERSION = "2026-11-01";

/** Any JSON, such as a merchant's own metadata. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json | undefined };
export type JsonObject = { [name: string]: Json | undefined };

/** The codes of errors that this release knows. A service may have newer ones. */
export type ErrorCode =
  | "missing_version"
  | "invalid_version"
  | "unsupported_version"
  | "invalid_request"
  | "invalid_json"
  | "invalid_content_type"
  | "price_required"
  | "unsupported_destination"
  | "wallet_required"
  | "token_required"
  | "destination_required"
  | "destination_conflict"
  | "idempotency_key_reuse"
  | "request_in_progress"
  | "invalid_cursor"
  | "intent_has_pending_deposits"
  | "unsupported_origin"
  | "internal_error"
  | "source_inbox_refused"
  | "source_inbox_unavailable"
  | "source_inbox_not_active"
  | "customer_not_bound"
  | "unauthorized"
  | "key_revoked"
  | "key_expired"
  | "insufficient_scope"
  | "account_suspended"
  | "not_found"
  | "payload_too_large"
  | "rate_limited";

/** A merchant's wish to be paid: where the money shall end and, if there is one, the price. */
export type PaymentIntent = {
  object: "payment_intent";
  /** Opaque. */
  intentId: string;
  /** The deposit inbox: an address that can only be emptied to the payout. */
  inboxAddress: string;
  /** True only in the answer of the call that minted the intent. */
  created: boolean;
  /** False on test networks. */
  livemode: boolean;
  /** A one-time intent is `settled` when its price is reached. All others stay `active` until they are archived. */
  status: "active" | "settled" | "archived";
  /** Fulfil at `paid` or `overpaid`. Only one-time intents are ever `overpaid`. */
  paymentStatus: "unpaid" | "partial" | "paid" | "overpaid";
  /** Millionths of the payout currency, whatever decimals the token has; null when open-ended. */
  priceUnits: number | null;
  oneTime: boolean;
  merchantReference: string | null;
  /** As it was given, or null. */
  metadata: JsonObject | null;
  /** Where the money ends. Pinned when the intent was created. */
  payout: {
    /** The family of chains, as CAIP-2 names it. */
    namespace: "eip155" | "solana";
    /** The chain within its namespace, as CAIP-2 names it. For EVM chains the chain id in digits. */
    chainReference: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    wallet: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    tokenAddress: string;
    /** Of the payout token. */
    decimals: number;
    /** `<chain slug>:<token slug>`. */
    railId: string;
    /** An account as CAIP-10 writes it. */
    caip10: string;
    /** A token as CAIP-19 writes it. */
    caip19: string;
  };
  /** The platform's share in basis points, pinned when the intent was created. */
  feeBps: number;
  /** Sums in the payout token's smallest units. */
  amounts: {
    /** The price in the token's own units; null when the intent is open-ended. */
    priceUnits: string | null;
    /** All that is on chain and on a route to the payout, final or not. */
    receivedUnits: string;
    /** What is final and counts towards the price. */
    countedUnits: string;
    /** What is missing to the price. */
    shortfallUnits: string;
    /** What was counted beyond the price. */
    excessUnits: string;
    /** What has left the inbox for the payout. */
    settledUnits: string;
    /** The platform's part of what was settled. */
    feeUnits: string;
    /** What the payout wallet has received. */
    netUnits: string;
  };
  /** What the inbox's address commits to. Anybody can compute the address from them. */
  inboxTerms: {
    version: number;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    hub: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    implementation: string;
    salt: string;
    /** In digits. */
    settleChainId: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    settleToken: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    payout: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    feeRecipient: string;
    /** The platform's share in basis points, pinned when the intent was created. */
    feeBps: number;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    recovery: string;
    /** Unix time in seconds. */
    recoverAfter: number;
    routesRoot: string;
  };
  /** The page on which a payer pays. It opens with `#` and the widget token behind it. */
  checkoutUrl: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** ISO 8601 in UTC. */
  updatedAt: string;
  /** When the price was reached. */
  settledAt: string | null;
  /** ISO 8601 in UTC. */
  archivedAt: string | null;
};

/** The intent, and the token that opens its checkout. */
export type CreatedPaymentIntent = {
  object: "payment_intent";
  /** Opaque. */
  intentId: string;
  /** The deposit inbox: an address that can only be emptied to the payout. */
  inboxAddress: string;
  /** True only in the answer of the call that minted the intent. */
  created: boolean;
  /** False on test networks. */
  livemode: boolean;
  /** A one-time intent is `settled` when its price is reached. All others stay `active` until they are archived. */
  status: "active" | "settled" | "archived";
  /** Fulfil at `paid` or `overpaid`. Only one-time intents are ever `overpaid`. */
  paymentStatus: "unpaid" | "partial" | "paid" | "overpaid";
  /** Millionths of the payout currency, whatever decimals the token has; null when open-ended. */
  priceUnits: number | null;
  oneTime: boolean;
  merchantReference: string | null;
  /** As it was given, or null. */
  metadata: JsonObject | null;
  /** Where the money ends. Pinned when the intent was created. */
  payout: {
    /** The family of chains, as CAIP-2 names it. */
    namespace: "eip155" | "solana";
    /** The chain within its namespace, as CAIP-2 names it. For EVM chains the chain id in digits. */
    chainReference: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    wallet: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    tokenAddress: string;
    /** Of the payout token. */
    decimals: number;
    /** `<chain slug>:<token slug>`. */
    railId: string;
    /** An account as CAIP-10 writes it. */
    caip10: string;
    /** A token as CAIP-19 writes it. */
    caip19: string;
  };
  /** The platform's share in basis points, pinned when the intent was created. */
  feeBps: number;
  /** Sums in the payout token's smallest units. */
  amounts: {
    /** The price in the token's own units; null when the intent is open-ended. */
    priceUnits: string | null;
    /** All that is on chain and on a route to the payout, final or not. */
    receivedUnits: string;
    /** What is final and counts towards the price. */
    countedUnits: string;
    /** What is missing to the price. */
    shortfallUnits: string;
    /** What was counted beyond the price. */
    excessUnits: string;
    /** What has left the inbox for the payout. */
    settledUnits: string;
    /** The platform's part of what was settled. */
    feeUnits: string;
    /** What the payout wallet has received. */
    netUnits: string;
  };
  /** What the inbox's address commits to. Anybody can compute the address from them. */
  inboxTerms: {
    version: number;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    hub: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    implementation: string;
    salt: string;
    /** In digits. */
    settleChainId: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    settleToken: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    payout: string;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    feeRecipient: string;
    /** The platform's share in basis points, pinned when the intent was created. */
    feeBps: number;
    /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
    recovery: string;
    /** Unix time in seconds. */
    recoverAfter: number;
    routesRoot: string;
  };
  /** The page on which a payer pays. It opens with `#` and the widget token behind it. */
  checkoutUrl: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** ISO 8601 in UTC. */
  updatedAt: string;
  /** When the price was reached. */
  settledAt: string | null;
  /** ISO 8601 in UTC. */
  archivedAt: string | null;
  /** Fresh each time. Every earlier one of this intent stops authenticating. */
  widgetToken: string;
};

/** A page of payment intents, newest first. */
export type PaymentIntentList = {
  object: "list";
  data: PaymentIntent[];
  /** True when more results follow. */
  has_more: boolean;
  /** Opaque. Pass it as `cursor` to continue; empty when nothing follows. */
  next_cursor: string;
};

/** What became of one transfer into an inbox of the intent. */
export type Deposit = {
  object: "deposit";
  /** Opaque. */
  depositId: string;
  /** Opaque. */
  intentId: string;
  /** `seen` is on chain and not final. `confirmed` is final and waits, because it is below the minimum. `counted` counts towards the price. `held` does not, for the `reason` given. `dropped` is no longer on chain. */
  status: "seen" | "confirmed" | "counted" | "held" | "dropped";
  /** In the deposited token's smallest units. */
  amountUnits: string;
  /** In the payout token's smallest units; 0 until it is counted. */
  countedUnits: string;
  token: Token;
  /** A token as CAIP-19 writes it. */
  caip19: string;
  /** Who sent it, as the token tells. */
  from: string;
  /** The transaction on its chain. */
  txHash: string;
  /** Its place among the transfers of its transaction. */
  position: number;
  blockNumber: number;
  blockHash: string;
  /** The blocks from its own to the newest, both included. */
  confirmations: number;
  /** How many make it final; null where the chain's own finality decides. */
  requiredConfirmations: number | null;
  /** It came when the intent was no longer active. It is paid out all the same. */
  late: boolean;
  /** Why it is held, waits or was dropped. */
  reason: string | null;
  /** The settlement that took it out of the inbox. */
  settlementId: string | null;
  /** ISO 8601 in UTC. */
  seenAt: string;
  /** ISO 8601 in UTC. */
  countedAt: string | null;
};

/** A page of deposits, newest first. */
export type DepositList = {
  object: "list";
  data: Deposit[];
  /** True when more results follow. */
  has_more: boolean;
  /** Opaque. Pass it as `cursor` to continue; empty when nothing follows. */
  next_cursor: string;
};

/** What takes an inbox's balance to the payout wallet. */
export type Settlement = {
  object: "settlement";
  /** Opaque. */
  settlementId: string;
  /** Opaque. */
  intentId: string;
  /** `landed` is on chain: the payout wallet has `netUnits` more, which is less than left the inbox where `reason` is `rescued`. */
  status: "planned" | "submitted" | "bridging" | "landed" | "held" | "failed";
  /** A token as CAIP-19 writes it. */
  caip19: string;
  /** What left the inbox for the payout: route cost, fee and net together. */
  grossUnits: string | null;
  /** The platform's part. */
  feeUnits: string | null;
  /** What a bridge or an exchange took, where the money took a route. */
  routeCostUnits: string | null;
  /** What the payout wallet received. */
  netUnits: string | null;
  /** Why it is held or failed; `rescued` when the recovery key of the intent sent what was in the inbox elsewhere. */
  reason: string | null;
  /** The transaction in which it landed; empty before. */
  txs: Array<{
    /** The transaction on its chain. */
    txHash: string;
    /** As CAIP-2 names it. */
    chain: string;
    blockNumber: number | null;
  }>;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** ISO 8601 in UTC. */
  submittedAt: string | null;
  /** ISO 8601 in UTC. */
  landedAt: string | null;
};

/** A page of settlements, newest first. */
export type SettlementList = {
  object: "list";
  data: Settlement[];
  /** True when more results follow. */
  has_more: boolean;
  /** Opaque. Pass it as `cursor` to continue; empty when nothing follows. */
  next_cursor: string;
};

/** Where this intent may be paid from, and what merchants are paid in. */
export type IntentOrigins = {
  /** Issuable ones first, the payout's chain foremost. */
  origins: SourceOrigin[];
  settleRails: SettleRail[];
  /** Whether the intent can have any source inbox issued now. */
  sourceDepositIssuable: boolean;
};

/** A chain and token from which a payer may deposit. */
export type SourceOrigin = {
  /** The family of chains, as CAIP-2 names it. */
  namespace: "eip155" | "solana";
  /** The chain within its namespace, as CAIP-2 names it. For EVM chains the chain id in digits. */
  reference: string;
  /** The EVM chain id; for Solana 101 on mainnet, 102 on testnet, 103 on devnet, 104 on a local chain. */
  chainId: number;
  /** The chain's name. */
  name: string;
  /** The chain's slug. */
  shortName: string;
  /** A node that a payer's wallet may ask. */
  publicRpcUrl: string;
  explorerUrl: string;
  nativeName: string;
  nativeSymbol: string;
  nativeDecimals: number;
  token: Token;
  /** A token as CAIP-19 writes it. */
  caip19: string;
  /** A deposit below it waits for more, unless the price is reached with it. */
  minimumUnits: string;
  /** The same as a decimal. */
  minimumDisplay: string;
  /** Whether a source inbox can be issued for it now. */
  depositIssuable: boolean;
};

/** A chain and token in which merchants are paid. */
export type SettleRail = {
  /** `<chain slug>:<token slug>`. */
  id: string;
  /** The family of chains, as CAIP-2 names it. */
  namespace: "eip155" | "solana";
  /** The chain within its namespace, as CAIP-2 names it. For EVM chains the chain id in digits. */
  reference: string;
  /** The EVM chain id; for Solana 101 on mainnet, 102 on testnet, 103 on devnet, 104 on a local chain. */
  chainId: number;
  chainName: string;
  token: Token;
  explorerUrl: string;
  status: "live";
  /** True for exactly one of them. */
  default: boolean;
};

/** A token on its chain. */
export type Token = {
  symbol: string;
  /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
  address: string;
  decimals: number;
};

/** A deposit address for one origin. */
export type SourceInbox = {
  /** On EVM chains spelled by EIP-55 and compared without case; on Solana base58 and compared byte by byte. */
  address: string;
  /** An account as CAIP-10 writes it. */
  caip10: string;
};

/** Whether the hint was of use. */
export type RecordedView = {
  /** False when nothing matched the selection: mostly because its source inbox has not been issued yet. */
  recorded: boolean;
};

/** What every error answers with. */
export type ErrorEnvelope = {
  error: {
    /** Compare this. A code keeps its meaning for ever; new ones may come. */
    code: string;
    /** For people. It may change. */
    message: string;
    /** The same as the header Request-Id. Name it when you ask for help. */
    request_id: string;
    /** The page about this code. */
    docs: string;
    /** Whether the same request may succeed later. */
    retryable: boolean;
    /** The field, header or parameter at fault. */
    param?: string | undefined;
    /** More about this code, as its page tells. */
    details?: JsonObject | undefined;
  };
};

export type CreatePaymentIntentBody = {
  /** Your own name for what is paid, such as an order's number. It need not be unique and is no key. */
  merchantReference?: string | null | undefined;
  /** Keys and values of the merchant's own. They are kept and returned as given, and mean nothing here. Of the order of keys one thing is not kept: those that are whole numbers come first, and ascend. It may be an object of at most 16384 bytes and 5 levels, with at most 50 keys a level, keys of at most 40 characters and strings of at most 500. A number that a double cannot hold exactly is refused: send it as a string. */
  metadata?: JsonObject | null | undefined;
  /** The price in millionths of the payout currency, whatever decimals the token has. Left out, the intent is open-ended: any counted deposit makes it paid. */
  priceUnits?: number | null | undefined;
  /** The intent is settled when its price is reached, and its destination is free again. It needs `priceUnits`. */
  oneTime?: boolean | null | undefined;
  /** Your wallet that receives the money. Of an EVM address the case is checked (EIP-55) where it is mixed; a Solana one is base58 of 32 bytes. */
  payoutWallet?: string | null | undefined;
  /** The family of chains, as CAIP-2 names it. */
  payoutNamespace?: "eip155" | "solana" | null | undefined;
  /** The chain within its namespace. An EVM chain id may also be a number. */
  payoutChainReference?: string | number | null | undefined;
  /** A token that is a live settle rail of the chain. Left out, it is the account's currency there, or the chain's default. */
  payoutTokenAddress?: string | null | undefined;
};

export type ArchivePaymentIntentBody = {};

export type CreateIntentSourceInboxBody = {
  /** The EVM chain id. */
  chainId: number;
  namespace?: null | undefined;
  reference?: null | undefined;
  mint?: null | undefined;
} | {
  chainId?: null | undefined;
  /** As CAIP-2 names it. */
  namespace: string;
  /** The chain within its namespace. */
  reference: string;
  /** The token's mint. */
  mint: string;
};

export type RecordIntentViewBody = {
  /** What the payer has chosen. Left out, everything of the intent is meant, which takes longer. */
  selection?: {
    /** As CAIP-2 names it. */
    namespace: string;
    /** The chain within its namespace. */
    reference: string;
    /** In any spelling of its case on EVM chains. */
    tokenAddress: string;
  } | null | undefined;
};

export type ListPaymentIntentsQuery = {
  /** How many entries a page has at most. */
  limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  cursor?: string | undefined;
  /** Only intents with exactly this reference. */
  merchantReference?: string | undefined;
};

export type ListIntentDepositsQuery = {
  /** How many entries a page has at most. */
  limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  cursor?: string | undefined;
};

export type ListIntentSettlementsQuery = {
  /** How many entries a page has at most. */
  limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  cursor?: string | undefined;
};

/** How operations are called over HTTP. */
export const OPERATIONS = {
  createPaymentIntent: { method: "POST", path: "/api/v1/intents", takes: ["body"], isRepeatable: false, isKeyed: true },
  listPaymentIntents: { method: "GET", path: "/api/v1/intents", takes: ["query"], isRepeatable: true, isKeyed: false },
  getPaymentIntent: { method: "GET", path: "/api/v1/intents/{id}", takes: ["id"], isRepeatable: true, isKeyed: false },
  archivePaymentIntent: { method: "POST", path: "/api/v1/intents/{id}/archive", takes: ["id"], isRepeatable: true, isKeyed: true },
  listIntentOrigins: { method: "GET", path: "/api/v1/intents/{id}/origins", takes: ["id"], isRepeatable: true, isKeyed: false },
  createIntentSourceInbox: { method: "POST", path: "/api/v1/intents/{id}/source-inbox", takes: ["id", "body"], isRepeatable: true, isKeyed: false },
  recordIntentView: { method: "POST", path: "/api/v1/intents/{id}/view", takes: ["id", "body"], isRepeatable: true, isKeyed: false },
  listIntentDeposits: { method: "GET", path: "/api/v1/intents/{id}/deposits", takes: ["id", "query"], isRepeatable: true, isKeyed: false },
  listIntentSettlements: { method: "GET", path: "/api/v1/intents/{id}/settlements", takes: ["id", "query"], isRepeatable: true, isKeyed: false },
} as const satisfies Record<string, Route>;

export type OperationId = keyof typeof OPERATIONS;

export type Route = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** What the arguments are, in this order, before the options. */
  readonly takes: readonly ("id" | "query" | "body")[];
  /** It may be sent again without an Idempotency-Key. */
  readonly isRepeatable: boolean;
  /** It takes an Idempotency-Key. */
  readonly isKeyed: boolean;
};

/** The operations as methods. `Options` may go with any call, `IdempotentCallOptions` with those that take an Idempotency-Key. */
export type Methods<Options, KeyedOptions> = {
  /** Create a payment intent. `POST /api/v1/intents` */
  readonly createPaymentIntent: (body?: CreatePaymentIntentBody, options?: KeyedOptions) => Promise<CreatedPaymentIntent>;
  /** List intents. `GET /api/v1/intents` */
  readonly listPaymentIntents: (query?: ListPaymentIntentsQuery, options?: Options) => Promise<PaymentIntentList>;
  /** Read one intent. `GET /api/v1/intents/{id}` */
  readonly getPaymentIntent: (id: string, options?: Options) => Promise<PaymentIntent>;
  /** Put an intent away. `POST /api/v1/intents/{id}/archive` */
  readonly archivePaymentIntent: (id: string, options?: KeyedOptions) => Promise<PaymentIntent>;
  /** List where an intent may be paid from. `GET /api/v1/intents/{id}/origins` */
  readonly listIntentOrigins: (id: string, options?: Options) => Promise<IntentOrigins>;
  /** Issue a source inbox. `POST /api/v1/intents/{id}/source-inbox` */
  readonly createIntentSourceInbox: (id: string, body: CreateIntentSourceInboxBody, options?: Options) => Promise<SourceInbox>;
  /** Report that a payer is looking. `POST /api/v1/intents/{id}/view` */
  readonly recordIntentView: (id: string, body?: RecordIntentViewBody, options?: Options) => Promise<RecordedView>;
  /** List an intent's deposits. `GET /api/v1/intents/{id}/deposits` */
  readonly listIntentDeposits: (id: string, query?: ListIntentDepositsQuery, options?: Options) => Promise<DepositList>;
  /** List an intent's settlements. `GET /api/v1/intents/{id}/settlements` */
  readonly listIntentSettlements: (id: string, query?: ListIntentSettlementsQuery, options?: Options) => Promise<SettlementList>;
};
