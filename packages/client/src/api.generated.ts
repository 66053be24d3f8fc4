// Generated from the API's document; do not edit. npm run generate -w @tributary/client

/** The version that a client requests by default. */
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
  | "events_expired"
  | "webhook_endpoint_limit"
  | "webhook_endpoint_disabled"
  | "unauthorized"
  | "key_revoked"
  | "key_expired"
  | "insufficient_scope"
  | "account_suspended"
  | "not_found"
  | "payload_too_large"
  | "rate_limited";

/** A request for a payment: its payout destination and, if it has one, its price. */
export type PaymentIntent = {
  object: "payment_intent";
  /** Opaque. */
  intentId: string;
  /** The deposit inbox: an address that pays out only to the payout wallet. */
  inboxAddress: string;
  /** True only in the response that created the intent. */
  created: boolean;
  /** False on test networks. */
  livemode: boolean;
  /** A one-time intent is `settled` when its price is reached: ship then. All others stay `active` until they are archived. Never ship for an `archived` one. */
  status: "active" | "settled" | "archived";
  /** Compares `amounts.countedUnits` with the price, late deposits included. Only one-time intents are ever `overpaid`. */
  paymentStatus: "unpaid" | "partial" | "paid" | "overpaid";
  /** Millionths of the payout currency, independent of the token's decimals; null when open-ended. */
  priceUnits: number | null;
  oneTime: boolean;
  merchantReference: string | null;
  /** The metadata as sent, or null. */
  metadata: JsonObject | null;
  /** Where the checkout page links back to. */
  returnUrl: string | null;
  /** What the checkout page shows the payer. */
  description: string | null;
  /** The payout destination, fixed when the intent is created. */
  payout: {
    /** The CAIP-2 namespace: the family of chains. */
    namespace: "eip155" | "solana";
    /** The CAIP-2 reference: the chain within its namespace. For EVM chains the chain id in digits. */
    chainReference: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    wallet: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    tokenAddress: string;
    /** The decimals of the payout token. */
    decimals: number;
    /** `<chain slug>:<token slug>`. */
    railId: string;
    /** A CAIP-10 account id. */
    caip10: string;
    /** A CAIP-19 asset id. */
    caip19: string;
  };
  /** The platform fee in basis points, fixed when the intent is created. */
  feeBps: number;
  /** Amounts in the payout token's smallest units. */
  amounts: {
    /** The price in the token's own units; null when the intent is open-ended. */
    priceUnits: string | null;
    /** All deposits on chain that have a route to the payout, final or not. */
    receivedUnits: string;
    /** The final deposits that count towards the price. */
    countedUnits: string;
    /** What the payer is still asked for: the price minus everything that arrived, or 0 once the price is reached within the tolerance; null when the intent is open-ended. */
    remainingUnits: string | null;
    /** The price minus the counted amount, however much is on its way. */
    shortfallUnits: string;
    /** The counted amount above the price. */
    excessUnits: string;
    /** The amount that left the inbox for the payout. */
    settledUnits: string;
    /** The platform fee on the settled amount. */
    feeUnits: string;
    /** The amount that the payout wallet received. */
    netUnits: string;
  };
  /** The terms that determine the inbox address, so that anyone can compute it. Keep the response of each create, outside this service: with these terms and the keys of your wallets every deposit can be recovered without it, and without them none can. */
  inboxTerms: {
    version: number;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    hub: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    implementation: string;
    salt: string;
    /** The EVM chain id as a string of digits. */
    settleChainId: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    settleToken: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    payout: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    feeRecipient: string;
    /** The platform fee in basis points, fixed when the intent is created. */
    feeBps: number;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    recovery: string;
    /** Unix time in seconds. */
    recoverAfter: number;
    /** The Merkle root of the routes; 32 zero bytes without routes. */
    routesRoot: string;
    /** The routes of `routesRoot`, in its order; absent without routes. Shown where one intent is created, read or archived; lists and events have only the root. */
    routes?: Array<{
      /** The EVM chain id of the deposit as a string of digits. */
      chainId: string;
      /** The deposited token. */
      token: string;
      /** The contract that calls the bridge. */
      adapter: string;
      /** The least amount that the bridge takes, in the token's smallest units. */
      minAmount: string;
      /** The adapter's settings, ABI-encoded. */
      config: string;
    }> | undefined;
    /** For a payout on Solana: the terms of `inboxAddress`. The fields beside it are those of an EVM inbox that takes no deposit. */
    solana?: {
      version: number;
      /** The inbox program. */
      program: string;
      /** The token program that owns the mint. */
      tokenProgram: string;
      kind: "pay";
      salt: string;
      /** The token of the deposits and of the payout. */
      mint: string;
      /** The payout wallet. */
      payout: string;
      /** The token account that receives the fee. */
      feeAccount: string;
      /** The platform fee in basis points, fixed when the intent is created. */
      feeBps: number;
      /** Receives the rent of closed accounts, and never a token. */
      rentRecipient: string;
      /** The key that may rescue. */
      recovery: string;
      /** Unix time in seconds. */
      recoverAfter: number;
    } | undefined;
    /** For a payout on an EVM chain: the terms of its inboxes on Solana, one for each mint that crosses; absent where the account has no recovery key there. Shown where `routes` are. */
    solanaRoutes?: Array<{
      version: number;
      /** The inbox program. */
      program: string;
      /** The token program that owns the mint. */
      tokenProgram: string;
      kind: "hop";
      salt: string;
      /** The token of the deposits. */
      mint: string;
      /** `inboxAddress` as 32 bytes. */
      mintRecipient: string;
      /** Circle's program that burns. */
      messenger: string;
      /** The least amount that is burned, in the mint's smallest units. */
      minAmount: string;
      /** Circle's number of the payout's chain. */
      domain: number;
      /** The fast way, then the standard one. */
      routes: Array<{
        /** The highest fee, in millionths of the amount. */
        feePpmMax: number;
        /** 2000 waits for finality, 1000 does not. */
        finalityThreshold: number;
      }>;
      /** Receives the rent of closed accounts, and never a token. */
      rentRecipient: string;
      /** The key that may rescue. */
      recovery: string;
      /** Unix time in seconds. */
      recoverAfter: number;
    }> | undefined;
  };
  /** The checkout page. Append `#` and the widget token to open it. */
  checkoutUrl: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** ISO 8601 in UTC. */
  updatedAt: string;
  /** The time at which the price was reached. */
  settledAt: string | null;
  /** ISO 8601 in UTC. */
  archivedAt: string | null;
  /** Solana alone: the token account of the address, where deposits arrive. */
  tokenAccount?: string | undefined;
  /** Solana alone: the token that the inbox takes. */
  mint?: string | undefined;
  /** Solana alone: the inbox program. */
  program?: string | undefined;
};

/** The intent, and the token that opens its checkout. */
export type CreatedPaymentIntent = {
  object: "payment_intent";
  /** Opaque. */
  intentId: string;
  /** The deposit inbox: an address that pays out only to the payout wallet. */
  inboxAddress: string;
  /** True only in the response that created the intent. */
  created: boolean;
  /** False on test networks. */
  livemode: boolean;
  /** A one-time intent is `settled` when its price is reached: ship then. All others stay `active` until they are archived. Never ship for an `archived` one. */
  status: "active" | "settled" | "archived";
  /** Compares `amounts.countedUnits` with the price, late deposits included. Only one-time intents are ever `overpaid`. */
  paymentStatus: "unpaid" | "partial" | "paid" | "overpaid";
  /** Millionths of the payout currency, independent of the token's decimals; null when open-ended. */
  priceUnits: number | null;
  oneTime: boolean;
  merchantReference: string | null;
  /** The metadata as sent, or null. */
  metadata: JsonObject | null;
  /** Where the checkout page links back to. */
  returnUrl: string | null;
  /** What the checkout page shows the payer. */
  description: string | null;
  /** The payout destination, fixed when the intent is created. */
  payout: {
    /** The CAIP-2 namespace: the family of chains. */
    namespace: "eip155" | "solana";
    /** The CAIP-2 reference: the chain within its namespace. For EVM chains the chain id in digits. */
    chainReference: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    wallet: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    tokenAddress: string;
    /** The decimals of the payout token. */
    decimals: number;
    /** `<chain slug>:<token slug>`. */
    railId: string;
    /** A CAIP-10 account id. */
    caip10: string;
    /** A CAIP-19 asset id. */
    caip19: string;
  };
  /** The platform fee in basis points, fixed when the intent is created. */
  feeBps: number;
  /** Amounts in the payout token's smallest units. */
  amounts: {
    /** The price in the token's own units; null when the intent is open-ended. */
    priceUnits: string | null;
    /** All deposits on chain that have a route to the payout, final or not. */
    receivedUnits: string;
    /** The final deposits that count towards the price. */
    countedUnits: string;
    /** What the payer is still asked for: the price minus everything that arrived, or 0 once the price is reached within the tolerance; null when the intent is open-ended. */
    remainingUnits: string | null;
    /** The price minus the counted amount, however much is on its way. */
    shortfallUnits: string;
    /** The counted amount above the price. */
    excessUnits: string;
    /** The amount that left the inbox for the payout. */
    settledUnits: string;
    /** The platform fee on the settled amount. */
    feeUnits: string;
    /** The amount that the payout wallet received. */
    netUnits: string;
  };
  /** The terms that determine the inbox address, so that anyone can compute it. Keep the response of each create, outside this service: with these terms and the keys of your wallets every deposit can be recovered without it, and without them none can. */
  inboxTerms: {
    version: number;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    hub: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    implementation: string;
    salt: string;
    /** The EVM chain id as a string of digits. */
    settleChainId: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    settleToken: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    payout: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    feeRecipient: string;
    /** The platform fee in basis points, fixed when the intent is created. */
    feeBps: number;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    recovery: string;
    /** Unix time in seconds. */
    recoverAfter: number;
    /** The Merkle root of the routes; 32 zero bytes without routes. */
    routesRoot: string;
    /** The routes of `routesRoot`, in its order; absent without routes. Shown where one intent is created, read or archived; lists and events have only the root. */
    routes?: Array<{
      /** The EVM chain id of the deposit as a string of digits. */
      chainId: string;
      /** The deposited token. */
      token: string;
      /** The contract that calls the bridge. */
      adapter: string;
      /** The least amount that the bridge takes, in the token's smallest units. */
      minAmount: string;
      /** The adapter's settings, ABI-encoded. */
      config: string;
    }> | undefined;
    /** For a payout on Solana: the terms of `inboxAddress`. The fields beside it are those of an EVM inbox that takes no deposit. */
    solana?: {
      version: number;
      /** The inbox program. */
      program: string;
      /** The token program that owns the mint. */
      tokenProgram: string;
      kind: "pay";
      salt: string;
      /** The token of the deposits and of the payout. */
      mint: string;
      /** The payout wallet. */
      payout: string;
      /** The token account that receives the fee. */
      feeAccount: string;
      /** The platform fee in basis points, fixed when the intent is created. */
      feeBps: number;
      /** Receives the rent of closed accounts, and never a token. */
      rentRecipient: string;
      /** The key that may rescue. */
      recovery: string;
      /** Unix time in seconds. */
      recoverAfter: number;
    } | undefined;
    /** For a payout on an EVM chain: the terms of its inboxes on Solana, one for each mint that crosses; absent where the account has no recovery key there. Shown where `routes` are. */
    solanaRoutes?: Array<{
      version: number;
      /** The inbox program. */
      program: string;
      /** The token program that owns the mint. */
      tokenProgram: string;
      kind: "hop";
      salt: string;
      /** The token of the deposits. */
      mint: string;
      /** `inboxAddress` as 32 bytes. */
      mintRecipient: string;
      /** Circle's program that burns. */
      messenger: string;
      /** The least amount that is burned, in the mint's smallest units. */
      minAmount: string;
      /** Circle's number of the payout's chain. */
      domain: number;
      /** The fast way, then the standard one. */
      routes: Array<{
        /** The highest fee, in millionths of the amount. */
        feePpmMax: number;
        /** 2000 waits for finality, 1000 does not. */
        finalityThreshold: number;
      }>;
      /** Receives the rent of closed accounts, and never a token. */
      rentRecipient: string;
      /** The key that may rescue. */
      recovery: string;
      /** Unix time in seconds. */
      recoverAfter: number;
    }> | undefined;
  };
  /** The checkout page. Append `#` and the widget token to open it. */
  checkoutUrl: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** ISO 8601 in UTC. */
  updatedAt: string;
  /** The time at which the price was reached. */
  settledAt: string | null;
  /** ISO 8601 in UTC. */
  archivedAt: string | null;
  /** New in every response. All earlier tokens of this intent stop working. */
  widgetToken: string;
  /** Solana alone: the token account of the address, where deposits arrive. */
  tokenAccount?: string | undefined;
  /** Solana alone: the token that the inbox takes. */
  mint?: string | undefined;
  /** Solana alone: the inbox program. */
  program?: string | undefined;
};

/** A page of payment intents, newest first. */
export type PaymentIntentList = {
  object: "list";
  data: PaymentIntent[];
  /** True when more results follow. */
  has_more: boolean;
  /** Opaque. Pass it as `cursor` to continue; empty on the last page. */
  next_cursor: string;
};

/** One transfer into an inbox of the intent, and its status. */
export type Deposit = {
  object: "deposit";
  /** Opaque. */
  depositId: string;
  /** Opaque. */
  intentId: string;
  /** `seen` is on chain and not final. `confirmed` is final and waits because it is below the minimum. `counted` counts towards the price. `held` does not, for the `reason` given. `dropped` is no longer on chain. */
  status: "seen" | "confirmed" | "counted" | "held" | "dropped";
  /** In the deposited token's smallest units. */
  amountUnits: string;
  /** In the payout token's smallest units; 0 until it is counted. */
  countedUnits: string;
  token: Token;
  /** A CAIP-19 asset id. */
  caip19: string;
  /** The sender, from the token's transfer event. */
  from: string;
  /** The transaction hash or signature. */
  txHash: string;
  /** Its position among the transfers of its transaction. */
  position: number;
  blockNumber: number;
  blockHash: string;
  /** The number of blocks from its own to the newest, both included. */
  confirmations: number;
  /** The confirmations that make it final; null when seconds or the chain's own finality decide. */
  requiredConfirmations: number | null;
  /** The seconds after which it is final, from its block to the newest on the chain's own clock; null when confirmations or the chain's own finality decide. */
  requiredSeconds: number | null;
  /** True when the intent was no longer active at its arrival. It is still paid out. */
  late: boolean;
  /** The reason that it is held, waits or was dropped. */
  reason: string | null;
  /** The settlement that paid it out. */
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
  /** Opaque. Pass it as `cursor` to continue; empty on the last page. */
  next_cursor: string;
};

/** A transaction that pays an inbox's balance out to the payout wallet. */
export type Settlement = {
  object: "settlement";
  /** Opaque. */
  settlementId: string;
  /** Opaque. */
  intentId: string;
  /** `landed` is on chain: the payout wallet has `netUnits` more, which is less than left the inbox where `reason` is `rescued`. */
  status: "planned" | "submitted" | "bridging" | "landed" | "held" | "failed";
  /** A CAIP-19 asset id. */
  caip19: string;
  /** The amount that left the inbox: route cost, fee and net together. */
  grossUnits: string | null;
  /** The platform fee. */
  feeUnits: string | null;
  /** The cost of a bridge or an exchange on the route. */
  routeCostUnits: string | null;
  /** The amount that the payout wallet received. */
  netUnits: string | null;
  /** The reason that it is held or failed; `rescued` when the intent's recovery key sent the inbox's balance elsewhere. */
  reason: string | null;
  /** The transaction in which it landed; empty until then. Where a bridge carries the money, the transaction that gave it to the bridge comes first. */
  txs: Array<{
    /** The transaction hash or signature. */
    txHash: string;
    /** The CAIP-2 id. */
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
  /** Opaque. Pass it as `cursor` to continue; empty on the last page. */
  next_cursor: string;
};

/** The source origins of this intent, and the settle rails. */
export type IntentOrigins = {
  /** Issuable ones first, starting with the payout's chain. */
  origins: SourceOrigin[];
  settleRails: SettleRail[];
  /** Whether any source inbox can be issued for the intent now. */
  sourceDepositIssuable: boolean;
};

/** A chain and token from which a payer may deposit. */
export type SourceOrigin = {
  /** The CAIP-2 namespace: the family of chains. */
  namespace: "eip155" | "solana";
  /** The CAIP-2 reference: the chain within its namespace. For EVM chains the chain id in digits. */
  reference: string;
  /** The EVM chain id; for Solana 101 on mainnet, 102 on testnet, 103 on devnet, 104 on a local chain. */
  chainId: number;
  /** The chain's name. */
  name: string;
  /** The chain's slug. */
  shortName: string;
  /** A public RPC node for the payer's wallet. */
  publicRpcUrl: string;
  explorerUrl: string;
  nativeName: string;
  nativeSymbol: string;
  nativeDecimals: number;
  token: Token;
  /** A CAIP-19 asset id. */
  caip19: string;
  /** A deposit below it waits for more, unless it completes the price. */
  minimumUnits: string;
  /** `minimumUnits` as a decimal. */
  minimumDisplay: string;
  /** Whether a source inbox can be issued for it now. */
  depositIssuable: boolean;
};

/** A chain and token in which merchants are paid. */
export type SettleRail = {
  /** `<chain slug>:<token slug>`. */
  id: string;
  /** The CAIP-2 namespace: the family of chains. */
  namespace: "eip155" | "solana";
  /** The CAIP-2 reference: the chain within its namespace. For EVM chains the chain id in digits. */
  reference: string;
  /** The EVM chain id; for Solana 101 on mainnet, 102 on testnet, 103 on devnet, 104 on a local chain. */
  chainId: number;
  chainName: string;
  token: Token;
  explorerUrl: string;
  status: "live";
  /** True for exactly one rail. */
  default: boolean;
};

/** A token on its chain. */
export type Token = {
  symbol: string;
  /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
  address: string;
  decimals: number;
};

/** A deposit address for one origin. */
export type SourceInbox = {
  /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
  address: string;
  /** A CAIP-10 account id. */
  caip10: string;
  /** Solana alone: the token account of the address, where deposits arrive. */
  tokenAccount?: string | undefined;
  /** Solana alone: the token that the inbox takes. */
  mint?: string | undefined;
  /** Solana alone: the inbox program. */
  program?: string | undefined;
};

/** The result of the hint. */
export type RecordedView = {
  /** False when no inbox matched the selection, usually because its source inbox has not been issued yet. */
  recorded: boolean;
};

/** A change, with the resource as it was then. */
export type Event = {
  /** Opaque. */
  id: string;
  object: "event";
  /** The kind of the change. */
  type: string;
  /** From 1 and without gaps, per account. 0 for a test event, which is in no feed. */
  sequence: number;
  livemode: boolean;
  /** The version of this format. */
  apiVersion: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  /** The one of its intent. */
  merchantReference: string | null;
  /** What changed. */
  data: {
    /** The resource after the change, as the API shows it. */
    object: JsonObject;
    /** The changed fields with their earlier values; null for a new resource. */
    previous: JsonObject | null;
  };
};

/** A page of events, oldest first. */
export type EventList = {
  object: "list";
  data: Event[];
  /** True when more events follow. A filtered page may be empty then. */
  has_more: boolean;
  /** The sequence to pass as the next `after`, also on the last page. */
  next_cursor: string;
};

/** A change of an intent. */
export type PaymentIntentEvent = {
  /** Opaque. */
  id: string;
  object: "event";
  type: "payment_intent.created" | "payment_intent.partially_paid" | "payment_intent.paid" | "payment_intent.settled" | "payment_intent.reopened" | "payment_intent.reversed" | "payment_intent.archived";
  /** From 1 and without gaps, per account. 0 for a test event, which is in no feed. */
  sequence: number;
  livemode: boolean;
  /** The version of this format. */
  apiVersion: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  /** The one of its intent. */
  merchantReference: string | null;
  /** What changed. */
  data: {
    object: PaymentIntent;
    /** The changed fields with their earlier values; null for a new resource. */
    previous: JsonObject | null;
  };
};

/** An address was issued for an origin. */
export type SourceInboxEvent = {
  /** Opaque. */
  id: string;
  object: "event";
  type: "source_inbox.issued";
  /** From 1 and without gaps, per account. 0 for a test event, which is in no feed. */
  sequence: number;
  livemode: boolean;
  /** The version of this format. */
  apiVersion: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  /** The one of its intent. */
  merchantReference: string | null;
  /** What changed. */
  data: {
    /** The address of an intent on one origin. */
    object: {
      object: "source_inbox";
      /** Opaque. */
      intentId: string;
      address: string;
      /** A CAIP-10 account id. */
      caip10: string;
      /** Solana alone: the token account of the address. */
      tokenAccount?: string | undefined;
      /** Solana alone: the token that the inbox takes. */
      mint?: string | undefined;
      /** Solana alone: the inbox program. */
      program?: string | undefined;
    };
    /** The changed fields with their earlier values; null for a new resource. */
    previous: JsonObject | null;
  };
};

/** A change of a deposit. */
export type DepositEvent = {
  /** Opaque. */
  id: string;
  object: "event";
  type: "deposit.seen" | "deposit.confirmed" | "deposit.counted" | "deposit.held" | "deposit.dropped";
  /** From 1 and without gaps, per account. 0 for a test event, which is in no feed. */
  sequence: number;
  livemode: boolean;
  /** The version of this format. */
  apiVersion: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  /** The one of its intent. */
  merchantReference: string | null;
  /** What changed. */
  data: {
    /** One transfer into an inbox of the intent, and its status. */
    object: {
      object: "deposit";
      /** Opaque. */
      depositId: string;
      /** Opaque. */
      intentId: string;
      /** `seen` is on chain and not final. `confirmed` is final and waits because it is below the minimum. `counted` counts towards the price. `held` does not, for the `reason` given. `dropped` is no longer on chain. */
      status: "seen" | "confirmed" | "counted" | "held" | "dropped";
      /** In the deposited token's smallest units. */
      amountUnits: string;
      /** In the payout token's smallest units; 0 until it is counted. */
      countedUnits: string;
      token: Token;
      /** A CAIP-19 asset id. */
      caip19: string;
      /** The sender, from the token's transfer event. */
      from: string;
      /** The transaction hash or signature. */
      txHash: string;
      /** Its position among the transfers of its transaction. */
      position: number;
      blockNumber: number;
      blockHash: string;
      /** The number of blocks from its own to the newest, both included. */
      confirmations: number;
      /** The confirmations that make it final; null when seconds or the chain's own finality decide. */
      requiredConfirmations: number | null;
      /** The seconds after which it is final, from its block to the newest on the chain's own clock; null when confirmations or the chain's own finality decide. */
      requiredSeconds: number | null;
      /** True when the intent was no longer active at its arrival. It is still paid out. */
      late: boolean;
      /** The reason that it is held, waits or was dropped. */
      reason: string | null;
      /** The settlement that paid it out. */
      settlementId: string | null;
      /** ISO 8601 in UTC. */
      seenAt: string;
      /** ISO 8601 in UTC. */
      countedAt: string | null;
      /** Of many small transfers that count together: their number. */
      depositCount?: number | undefined;
    };
    /** The changed fields with their earlier values; null for a new resource. */
    previous: JsonObject | null;
  };
};

/** A change of a settlement. */
export type SettlementEvent = {
  /** Opaque. */
  id: string;
  object: "event";
  type: "settlement.submitted" | "settlement.bridging" | "settlement.landed" | "settlement.held" | "settlement.failed";
  /** From 1 and without gaps, per account. 0 for a test event, which is in no feed. */
  sequence: number;
  livemode: boolean;
  /** The version of this format. */
  apiVersion: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  /** The one of its intent. */
  merchantReference: string | null;
  /** What changed. */
  data: {
    object: Settlement;
    /** The changed fields with their earlier values; null for a new resource. */
    previous: JsonObject | null;
  };
};

/** An endpoint fails or was disabled, or its merchant asked for a test. */
export type WebhookEndpointEvent = {
  /** Opaque. */
  id: string;
  object: "event";
  type: "webhook_endpoint.failing" | "webhook_endpoint.disabled" | "webhook_endpoint.test";
  /** From 1 and without gaps, per account. 0 for a test event, which is in no feed. */
  sequence: number;
  livemode: boolean;
  /** The version of this format. */
  apiVersion: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  /** The one of its intent. */
  merchantReference: string | null;
  /** What changed. */
  data: {
    object: WebhookEndpoint;
    /** The changed fields with their earlier values; null for a new resource. */
    previous: JsonObject | null;
  };
};

/** A change of the account itself, or of its feed. */
export type AccountEvent = {
  /** Opaque. */
  id: string;
  object: "event";
  type: "account.updated" | "account.feed_restored" | "account.payout_change_proposed" | "account.payout_change_confirmed" | "account.payout_change_stopped";
  /** From 1 and without gaps, per account. 0 for a test event, which is in no feed. */
  sequence: number;
  livemode: boolean;
  /** The version of this format. */
  apiVersion: string;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  /** The one of its intent. */
  merchantReference: string | null;
  /** What changed. */
  data: {
    /** The account after the change; of `account.feed_restored`, `lastSequence` and `nextSequence`; of `account.payout_change_*`, the proposed change with its `status` and the time at which it takes effect. */
    object: JsonObject;
    /** The changed fields with their earlier values; null for a new resource. */
    previous: JsonObject | null;
  };
};

/** A URL that gets events. */
export type WebhookEndpoint = {
  object: "webhook_endpoint";
  /** Opaque. */
  webhookEndpointId: string;
  /** Where events are posted. */
  url: string;
  /** The types that it gets: names, prefixes such as `deposit.*`, or `["*"]` for every type. */
  types: string[];
  description: string | null;
  status: "enabled" | "disabled";
  /** `requested` by a PATCH, `gone` after status 410, `failing` after nothing but failures for five days. Only `failing` ends by itself: one try a day. */
  disabledReason: "requested" | "gone" | "failing" | null;
  /** The first of the failures since the last success. */
  failingSince: string | null;
  /** ISO 8601 in UTC. */
  createdAt: string;
};

/** A URL that gets events, with its new secret. */
export type WebhookEndpointWithSecret = {
  object: "webhook_endpoint";
  /** Opaque. */
  webhookEndpointId: string;
  /** Where events are posted. */
  url: string;
  /** The types that it gets: names, prefixes such as `deposit.*`, or `["*"]` for every type. */
  types: string[];
  description: string | null;
  status: "enabled" | "disabled";
  /** `requested` by a PATCH, `gone` after status 410, `failing` after nothing but failures for five days. Only `failing` ends by itself: one try a day. */
  disabledReason: "requested" | "gone" | "failing" | null;
  /** The first of the failures since the last success. */
  failingSince: string | null;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** Signs every request. It is shown once. */
  secret: string;
};

/** All endpoints of the account, in the order of their creation. */
export type WebhookEndpointList = {
  object: "list";
  data: WebhookEndpoint[];
};

/** The delivery of one event to one endpoint, with its tries. */
export type WebhookDelivery = {
  object: "webhook_delivery";
  /** Null once the event is older than events are kept. */
  eventId: string | null;
  type: string | null;
  sequence: number;
  status: "pending" | "succeeded" | "failed";
  /** Whether it was asked for: a replay or a test. */
  isReplay: boolean;
  /** Null while an earlier event of its intent is pending, and at the end. */
  nextTryAt: string | null;
  /** ISO 8601 in UTC. */
  createdAt: string;
  /** ISO 8601 in UTC. */
  closedAt: string | null;
  attempts: Array<{
    attempt: number;
    /** ISO 8601 in UTC. */
    at: string;
    url: string;
    /** Null when no answer came. */
    statusCode: number | null;
    /** Why no answer came. */
    error: string | null;
    /** Milliseconds until the connection stood. */
    connectedMs: number | null;
    /** Milliseconds until the answer began. */
    firstByteMs: number | null;
    /** Milliseconds until the answer ended or the try was given up. */
    totalMs: number;
    /** The first 2 KiB of the answer. */
    answer: string | null;
  }>;
};

/** A page of deliveries, newest first. */
export type WebhookDeliveryList = {
  object: "list";
  data: WebhookDelivery[];
  /** True when more results follow. */
  has_more: boolean;
  /** Opaque. Pass it as `cursor` to continue; empty on the last page. */
  next_cursor: string;
};

/** Who changed what. */
export type AuditEntry = {
  object: "audit_entry";
  /** Grows with each entry. */
  number: number;
  /** ISO 8601 in UTC. */
  at: string;
  /** `operator`, or `key` or `member` and its id. */
  actor: string;
  action: string;
  /** What was changed. It contains no secret. */
  details: JsonObject;
};

/** A page of entries of the audit log, newest first. */
export type AuditEntryList = {
  object: "list";
  data: AuditEntry[];
  /** True when more results follow. */
  has_more: boolean;
  /** Opaque. Pass it as `cursor` to continue; empty on the last page. */
  next_cursor: string;
};

/** The account of the API key. */
export type Account = {
  object: "account";
  /** Opaque. */
  accountId: string;
  /** The name that payers see. */
  name: string;
  environment: "test" | "live";
  /** The default destination of the account's intents; null without one. */
  payout: {
    /** A CAIP-2 id. */
    chain: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    wallet: string | null;
    /** The symbol of a token. */
    currency: string | null;
  } | null;
  /** The platform fee of new intents in basis points. */
  feeBps: number;
  /** How far below the price counts as paid in new intents, in basis points. */
  underpayToleranceBps: number;
  /** The EVM address that can recover misdirected tokens; null for the payout wallet. */
  recovery: string | null;
  /** The same for payouts on Solana; null for the payout wallet. */
  solanaRecovery: string | null;
  /** The default destination of keys that are bound to an EVM chain, where `payout` is elsewhere. */
  evmPayout: {
    /** A CAIP-2 id. */
    chain: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    wallet: string;
  } | null;
  /** The default destination of keys that are bound to Solana, where `payout` is elsewhere. */
  solanaPayout: {
    /** A CAIP-2 id. */
    chain: string;
    /** On EVM chains with EIP-55 checksum, to be compared without case; on Solana base58, to be compared exactly. */
    wallet: string;
  } | null;
  /** The origins that its intents may use; null for all. */
  origins: string[] | null;
  /** The operator has raised the account's rate limits to so many times the usual ones; else 1. */
  limitMultiple: number;
  /** How the account's checkout looks. Null: the default. */
  brand: {
    /** The fill of the main button. */
    accent: string | null;
    /** The same in the dark theme; without it the accent. */
    accentDark: string | null;
    /** The radius of corners in CSS pixels. */
    radius: number | null;
    /** Fonts of the payer's device. */
    font: string | null;
    /** The stored image as a `data:` URL. */
    logo: string | null;
  };
  /** The link that payers see for questions; null for the service's own. */
  support: string | null;
  /** The scopes of the key. */
  scopes: string[];
  /** The rate limits of every operation. */
  limits: Array<{
    operationId: string;
    perMinute: number;
    /** A second limit, for one intent. */
    perMinuteAndIntent: number | null;
  }>;
};

/** The web pages that may embed the account's checkout. */
export type PageOriginList = {
  /** Scheme, host and port, as browsers send them, in alphabetical order. */
  origins: string[];
};

export type Error = {
  /** The code to compare in programs. Its meaning never changes; new codes may be added. */
  code: string;
  /** For people. It may change. */
  message: string;
  /** Equal to the Request-Id header. Quote it when you ask for help. */
  request_id: string;
  /** The documentation page of this code. */
  docs: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** The field, header or parameter at fault. */
  param?: string | undefined;
  /** More data; the code's page describes it. */
  details?: JsonObject | undefined;
};

export type CreatePaymentIntentBody = {
  /** Your own label, such as an order number. It need not be unique and does not identify the intent. */
  merchantReference?: string | null | undefined;
  /** The merchant's own keys and values. They are stored and returned unchanged, and the service does not interpret them. The order of keys is kept, except that keys that are whole numbers come first, in ascending order. It may be an object of at most 16384 bytes and 5 levels, with at most 50 keys a level, keys of at most 40 characters and strings of at most 500. A number that a double cannot hold exactly is refused: send it as a string. */
  metadata?: JsonObject | null | undefined;
  /** The price in millionths of the payout currency, independent of the token's decimals. Without it the intent is open-ended: any counted deposit makes it paid. */
  priceUnits?: number | null | undefined;
  /** If true, the intent is settled when its price is reached, and its destination is free again. Requires `priceUnits`. */
  oneTime?: boolean | null | undefined;
  /** Where the checkout page links back to: an https URL without user and password. The page never follows the link by itself. */
  returnUrl?: string | null | undefined;
  /** What the payer pays for, in a few words. The checkout page shows it. */
  description?: string | null | undefined;
  /** Your wallet for the payout. A mixed-case EVM address must have a correct EIP-55 checksum; a Solana address is base58 of 32 bytes. */
  payoutWallet?: string | null | undefined;
  /** The CAIP-2 namespace: the family of chains. */
  payoutNamespace?: "eip155" | "solana" | null | undefined;
  /** The CAIP-2 reference: the chain within its namespace. An EVM chain id may also be a number. */
  payoutChainReference?: string | number | null | undefined;
  /** A token that is a live settle rail of the chain. The default is the account's currency there, or the chain's default. */
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
  /** The CAIP-2 namespace. */
  namespace: string;
  /** The CAIP-2 reference. */
  reference: string;
  /** The token's mint. */
  mint: string;
};

export type RecordIntentViewBody = {
  /** The payer's choice. Without it, all inboxes of the intent are scanned, which takes longer. */
  selection?: {
    /** The CAIP-2 namespace. */
    namespace: string;
    /** The CAIP-2 reference. */
    reference: string;
    /** On EVM chains in any letter case. */
    tokenAddress: string;
  } | null | undefined;
};

export type CreateWebhookEndpointBody = {
  /** A public URL; https in live. */
  url: string;
  /** Types, prefixes such as `deposit.*`, or `["*"]`. */
  types?: string[] | undefined;
  /** Your own words. */
  description?: string | undefined;
};

export type UpdateWebhookEndpointBody = {
  /** A public URL; https in live. */
  url?: string | undefined;
  /** Types, prefixes such as `deposit.*`, or `["*"]`. */
  types?: string[] | undefined;
  /** Your own words. */
  description?: string | undefined;
  /** Whether it gets events. */
  status?: "enabled" | "disabled" | undefined;
};

export type DeleteWebhookEndpointBody = {};

export type RotateWebhookSecretBody = {};

export type TestWebhookEndpointBody = {};

export type RedeliverEventsBody = {
  /** One event. */
  eventId?: string | undefined;
  /** The first event of a range. */
  fromSequence?: number | undefined;
  /** The last event of the range. */
  toSequence?: number | undefined;
};

export type UpdateAccountBody = {
  /** How the checkout looks. Null restores the default, and a missing field stays as it is. */
  brand?: {
    /** The fill of the main button. The service computes black or white for the text on it. */
    accent?: string | null | undefined;
    /** The same in the dark theme; the accent by default. */
    accentDark?: string | null | undefined;
    /** The radius of corners in CSS pixels. */
    radius?: number | null | undefined;
    /** Up to 6 fonts of the payer's device, separated by commas. The page loads none. */
    font?: string | null | undefined;
    /** A `data:` URL of a PNG of at most 1,024 × 1,024 pixels, or of an SVG; at most 32 KiB. The service stores only the parts that draw. */
    logo?: string | null | undefined;
  } | undefined;
  /** Whom payers ask: an https URL or a mail address. Null restores the service's own. */
  support?: string | null | undefined;
};

export type ReplacePageOriginsBody = {
  /** The whole list: scheme, host and port, without a path and without wildcards. An empty list allows no page. */
  origins: string[];
};

/** An event as it is posted to an endpoint: `type` tells what `data.object` is. A later service may send further types. */
export type WebhookEvent = PaymentIntentEvent | SourceInboxEvent | DepositEvent | SettlementEvent | AccountEvent | WebhookEndpointEvent;

export type ListPaymentIntentsQuery = {
  /** The maximum number of entries on a page. */
  limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  cursor?: string | undefined;
  /** Only intents with exactly this reference. */
  merchantReference?: string | undefined;
  /** Only intents in this status. */
  status?: "active" | "settled" | "archived" | undefined;
  /** Only intents with this payment status. */
  paymentStatus?: "unpaid" | "partial" | "paid" | "overpaid" | undefined;
  /** Only intents created after this time. */
  createdAfter?: string | undefined;
  /** Only intents created before this time. */
  createdBefore?: string | undefined;
};

export type ListIntentDepositsQuery = {
  /** The maximum number of entries on a page. */
  limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  cursor?: string | undefined;
};

export type ListIntentSettlementsQuery = {
  /** The maximum number of entries on a page. */
  limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  cursor?: string | undefined;
};

export type ListEventsQuery = {
  /** The sequence of the last event that you have; 0 begins with the first. */
  after?: number | undefined;
  /** The maximum number of entries on a page. */
  limit?: number | undefined;
  /** Types, separated by commas; `deposit.*` means all below `deposit`. */
  type?: string | undefined;
  /** Only events of this intent. */
  intentId?: string | undefined;
};

export type ListWebhookDeliveriesQuery = {
  /** The maximum number of entries on a page. */
  limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  cursor?: string | undefined;
  /** Only deliveries with this status. */
  status?: "pending" | "succeeded" | "failed" | undefined;
  /** Only deliveries of this event. */
  eventId?: string | undefined;
};

export type ListAuditLogQuery = {
  /** The maximum number of entries on a page. */
  limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
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
  listEvents: { method: "GET", path: "/api/v1/events", takes: ["query"], isRepeatable: true, isKeyed: false },
  getEvent: { method: "GET", path: "/api/v1/events/{id}", takes: ["id"], isRepeatable: true, isKeyed: false },
  createWebhookEndpoint: { method: "POST", path: "/api/v1/webhook-endpoints", takes: ["body"], isRepeatable: false, isKeyed: true },
  listWebhookEndpoints: { method: "GET", path: "/api/v1/webhook-endpoints", takes: [], isRepeatable: true, isKeyed: false },
  getWebhookEndpoint: { method: "GET", path: "/api/v1/webhook-endpoints/{id}", takes: ["id"], isRepeatable: true, isKeyed: false },
  updateWebhookEndpoint: { method: "PATCH", path: "/api/v1/webhook-endpoints/{id}", takes: ["id", "body"], isRepeatable: true, isKeyed: false },
  deleteWebhookEndpoint: { method: "DELETE", path: "/api/v1/webhook-endpoints/{id}", takes: ["id"], isRepeatable: false, isKeyed: false },
  rotateWebhookSecret: { method: "POST", path: "/api/v1/webhook-endpoints/{id}/rotate-secret", takes: ["id"], isRepeatable: false, isKeyed: true },
  testWebhookEndpoint: { method: "POST", path: "/api/v1/webhook-endpoints/{id}/test", takes: ["id"], isRepeatable: false, isKeyed: true },
  listWebhookDeliveries: { method: "GET", path: "/api/v1/webhook-endpoints/{id}/deliveries", takes: ["id", "query"], isRepeatable: true, isKeyed: false },
  redeliverEvents: { method: "POST", path: "/api/v1/webhook-endpoints/{id}/redeliver", takes: ["id", "body"], isRepeatable: false, isKeyed: true },
  getAccount: { method: "GET", path: "/api/v1/account", takes: [], isRepeatable: true, isKeyed: false },
  updateAccount: { method: "PATCH", path: "/api/v1/account", takes: ["body"], isRepeatable: true, isKeyed: false },
  listPageOrigins: { method: "GET", path: "/api/v1/page-origins", takes: [], isRepeatable: true, isKeyed: false },
  replacePageOrigins: { method: "PUT", path: "/api/v1/page-origins", takes: ["body"], isRepeatable: true, isKeyed: false },
  listAuditLog: { method: "GET", path: "/api/v1/audit-log", takes: ["query"], isRepeatable: true, isKeyed: false },
} as const satisfies Record<string, Route>;

export type OperationId = keyof typeof OPERATIONS;

export type Route = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** What the arguments are, in this order, before the options. */
  readonly takes: readonly ("id" | "query" | "body")[];
  /** It may be sent again without an Idempotency-Key. */
  readonly isRepeatable: boolean;
  /** It takes an Idempotency-Key. */
  readonly isKeyed: boolean;
};

/**
 * The operations as methods. `Options` may go with any call, `IdempotentCallOptions` with those that take an
 * Idempotency-Key.
 */
export type Methods<Options, KeyedOptions> = {
  /** Create a payment intent. `POST /api/v1/intents` */
  readonly createPaymentIntent: (body?: CreatePaymentIntentBody, options?: KeyedOptions) => Promise<CreatedPaymentIntent>;
  /** List intents. `GET /api/v1/intents` */
  readonly listPaymentIntents: (query?: ListPaymentIntentsQuery, options?: Options) => Promise<PaymentIntentList>;
  /** Read one intent. `GET /api/v1/intents/{id}` */
  readonly getPaymentIntent: (id: string, options?: Options) => Promise<PaymentIntent>;
  /** Archive an intent. `POST /api/v1/intents/{id}/archive` */
  readonly archivePaymentIntent: (id: string, options?: KeyedOptions) => Promise<PaymentIntent>;
  /** List an intent's source origins. `GET /api/v1/intents/{id}/origins` */
  readonly listIntentOrigins: (id: string, options?: Options) => Promise<IntentOrigins>;
  /** Issue a source inbox. `POST /api/v1/intents/{id}/source-inbox` */
  readonly createIntentSourceInbox: (id: string, body: CreateIntentSourceInboxBody, options?: Options) => Promise<SourceInbox>;
  /** Report a payer's view. `POST /api/v1/intents/{id}/view` */
  readonly recordIntentView: (id: string, body?: RecordIntentViewBody, options?: Options) => Promise<RecordedView>;
  /** List an intent's deposits. `GET /api/v1/intents/{id}/deposits` */
  readonly listIntentDeposits: (id: string, query?: ListIntentDepositsQuery, options?: Options) => Promise<DepositList>;
  /** List an intent's settlements. `GET /api/v1/intents/{id}/settlements` */
  readonly listIntentSettlements: (id: string, query?: ListIntentSettlementsQuery, options?: Options) => Promise<SettlementList>;
  /** Read the feed of events. `GET /api/v1/events` */
  readonly listEvents: (query?: ListEventsQuery, options?: Options) => Promise<EventList>;
  /** Get an event. `GET /api/v1/events/{id}` */
  readonly getEvent: (id: string, options?: Options) => Promise<Event>;
  /** Create a webhook endpoint. `POST /api/v1/webhook-endpoints` */
  readonly createWebhookEndpoint: (body: CreateWebhookEndpointBody, options?: KeyedOptions) => Promise<WebhookEndpointWithSecret>;
  /** List the webhook endpoints. `GET /api/v1/webhook-endpoints` */
  readonly listWebhookEndpoints: (options?: Options) => Promise<WebhookEndpointList>;
  /** Get a webhook endpoint. `GET /api/v1/webhook-endpoints/{id}` */
  readonly getWebhookEndpoint: (id: string, options?: Options) => Promise<WebhookEndpoint>;
  /** Change a webhook endpoint. `PATCH /api/v1/webhook-endpoints/{id}` */
  readonly updateWebhookEndpoint: (id: string, body?: UpdateWebhookEndpointBody, options?: Options) => Promise<WebhookEndpoint>;
  /** Delete a webhook endpoint. `DELETE /api/v1/webhook-endpoints/{id}` */
  readonly deleteWebhookEndpoint: (id: string, options?: Options) => Promise<{
  deleted: true;
}>;
  /** Rotate the secret of a webhook endpoint. `POST /api/v1/webhook-endpoints/{id}/rotate-secret` */
  readonly rotateWebhookSecret: (id: string, options?: KeyedOptions) => Promise<WebhookEndpointWithSecret>;
  /** Send a test event. `POST /api/v1/webhook-endpoints/{id}/test` */
  readonly testWebhookEndpoint: (id: string, options?: KeyedOptions) => Promise<Event>;
  /** List the deliveries of a webhook endpoint. `GET /api/v1/webhook-endpoints/{id}/deliveries` */
  readonly listWebhookDeliveries: (id: string, query?: ListWebhookDeliveriesQuery, options?: Options) => Promise<WebhookDeliveryList>;
  /** Deliver events again. `POST /api/v1/webhook-endpoints/{id}/redeliver` */
  readonly redeliverEvents: (id: string, body?: RedeliverEventsBody, options?: KeyedOptions) => Promise<{
  /** The number of events. */
  count: number;
}>;
  /** Get the account of the key. `GET /api/v1/account` */
  readonly getAccount: (options?: Options) => Promise<Account>;
  /** Change the looks of the checkout. `PATCH /api/v1/account` */
  readonly updateAccount: (body?: UpdateAccountBody, options?: Options) => Promise<Account>;
  /** List the pages that may embed the checkout. `GET /api/v1/page-origins` */
  readonly listPageOrigins: (options?: Options) => Promise<PageOriginList>;
  /** Replace the pages that may embed the checkout. `PUT /api/v1/page-origins` */
  readonly replacePageOrigins: (body: ReplacePageOriginsBody, options?: Options) => Promise<PageOriginList>;
  /** List who changed what. `GET /api/v1/audit-log` */
  readonly listAuditLog: (query?: ListAuditLogQuery, options?: Options) => Promise<AuditEntryList>;
};
