import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2, Namespace } from "../kernel/caip.ts";
import type * as road from "./roadSchema.ts";
import type * as webhook from "./webhook/webhookSchema.ts";

// The row types of all tables, in the order of the stations that own them; those of watch and later ones are in
// roadSchema.ts. numeric and int8 are bigint, bytea is Uint8Array, timestamptz is Date.

export type EventTable = {
  position: GeneratedAlways<bigint>;
  /** Per account from 1, without gaps; null until it is assigned after the commit. */
  sequence: bigint | null;
  /** `seq` of its intent; null for an event of the account itself. */
  intent_number: bigint | null;
  created_at: Date;
  account_number: number;
  type: number;
  format: number;
  livemode: boolean;
  /** The 16 bytes of its id. */
  id: Uint8Array;
  /** The values that it shows beside pinned columns of its intent. */
  content: unknown;
};

/** `revision` increases with every assignment of sequences, in the order of their commits. */
export type EventCounterTable = { account_number: number; last_sequence: bigint; revision: bigint };

/** Events created up to this time may have been deleted. */
export type EventExpiryTable = { only_row: Generated<boolean>; expired_before: Date };

/**
 * One booked fact of a chain. Its entries sum to zero in each asset. Rows never change; a later posting reverses them.
 */
export type LedgerPostingTable = {
  id: GeneratedAlways<bigint>;
  /** The booked fact, and the version of its booking. */
  reference: string;
  version: bigint;
  /** The posting that this one reverses. */
  reverses: bigint | null;
  /** The ledger account of the inbox that this posting concerns. */
  custody: string;
  chain: Caip2;
  chain_tx: string;
  block_number: bigint;
  entry_count: number;
  booked_at: Date;
};

export type LedgerEntryTable = {
  posting_id: bigint;
  /** From 1. Place 1 is the end outside the inbox. */
  place: number;
  account: string;
  /** CAIP-19, with the token in its stored form. */
  asset: string;
  amount_units: bigint;
};

/** Computed from the entries by a trigger, for accounts that hold or lack funds. */
export type LedgerBalanceTable = { holder: string; asset: string; account: string; balance_units: bigint };

export type IdempotentAnswerTable = {
  account_id: string;
  operation: string;
  key: string;
  body_hash: Uint8Array;
  status: number;
  body: unknown;
  expires_at: Date;
};

/** The calls of one rate-limit key. Times are milliseconds of the database's clock. */
export type RateLogTable = {
  key: string;
  /** For each counted call, the time until which it counts. */
  counted_until_ms: bigint[];
  /** The number of permits that the last request got. */
  granted: number;
  granted_until_ms: bigint;
  /** The process that took permits last. */
  holder: string;
};

export type GasAccountTable = { chain: Caip2; address: string; next_nonce: bigint };

/** signed → mined | reverted | lost; the last three are terminal. */
export type OutgoingTransactionStatus = "signed" | "mined" | "reverted" | "lost";

export type OutgoingTransactionTable = {
  id: GeneratedAlways<bigint>;
  chain: Caip2;
  sender: string;
  /** These four are set on EVM chains alone. */
  nonce: bigint | null;
  recipient: string | null;
  data: string | null;
  gas_limit: bigint | null;
  status: OutgoingTransactionStatus;
  mined_chain_tx: string | null;
  mined_block_number: bigint | null;
  created_at: Date;
  closed_at: Date | null;
  /** When its bytes were deleted; then `data` is empty and it has no attempts. */
  purged_at: Generated<Date | null>;
};

export type OutgoingAttemptTable = {
  outgoing_id: bigint;
  attempt: number;
  chain_tx: string;
  raw: string;
  /** These two are set on EVM chains alone. */
  max_fee_per_gas: bigint | null;
  max_priority_fee_per_gas: bigint | null;
  /** The height of the last block that can include the bytes, on kinds of chains where they expire. */
  last_valid_height: Generated<bigint | null>;
  created_at: Date;
  submitted_at: Date | null;
};

export type AccountTable = {
  id: string;
  number: GeneratedAlways<number>;
  name: string;
  environment: "test" | "live";
  status: Generated<"active" | "suspended">;
  payout_namespace: Namespace | null;
  payout_chain_reference: string | null;
  payout_wallet: string | null;
  currency: string | null;
  fee_bps: Generated<number>;
  underpay_tolerance_bps: Generated<number>;
  recovery: string | null;
  created_at: Date;
  /** CAIP-19 ids of the origins that its intents may use; null for all. */
  origins: Generated<string[] | null>;
  /** Beside `recovery`, which is for EVM chains. */
  solana_recovery: Generated<string | null>;
  /** The default destination on Solana, where the own one is elsewhere: for the keys that are bound to it. Both or none. */
  solana_default_reference: Generated<string | null>;
  solana_default_wallet: Generated<string | null>;
  /** The same on an EVM chain. */
  evm_default_reference: Generated<string | null>;
  evm_default_wallet: Generated<string | null>;
};

export type ApiKeyTable = {
  key_id: string;
  account_id: string;
  secret_hash: Uint8Array;
  scopes: string[];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  /** The default destination that its creates have; null for the account's own. */
  default_namespace: Generated<Namespace | null>;
};

/** Increases with every change of keys or accounts. */
export type MerchantVersionTable = { only_row: Generated<boolean>; version: bigint };

/** Web pages that may embed an account's checkout. */
export type PageOriginTable = { account_id: string; origin: string; added_at: Date };

/** How the checkout of an account looks, and whom its payers ask. Absent: the defaults. */
export type AccountBrandTable = {
  account_id: string;
  /** `#rrggbb` in lower case. */
  accent: string | null;
  accent_dark: string | null;
  radius_px: number | null;
  font: string | null;
  /** An https: or mailto: address. */
  support: string | null;
  logo: Uint8Array | null;
  logo_type: "image/png" | "image/svg+xml" | null;
  changed_at: Date;
};

export type DeploymentTable = { only_row: Generated<boolean>; deployment_id: Uint8Array; signing_secret: Uint8Array };

/**
 * active → settled | archived; settled → archived | active (a reorg took a counted deposit away); archived is terminal.
 */
export type IntentStatus = "active" | "settled" | "archived";

export type IntentTable = {
  id: string;
  seq: GeneratedAlways<bigint>;
  account_id: string;
  livemode: boolean;
  status: IntentStatus;
  occupies: boolean;
  price_units: bigint | null;
  price_token_units: bigint | null;
  one_time: boolean;
  merchant_reference: string | null;
  metadata: unknown;
  payout_namespace: Namespace;
  payout_chain_reference: string;
  payout_wallet: string;
  payout_token: string;
  payout_decimals: number;
  rail_id: string;
  minimum_units: bigint;
  fee_bps: number;
  fee_recipient: string;
  underpay_tolerance_bps: number;
  recovery: string;
  recover_after: bigint;
  /** Gets the rent of closed accounts; only on Solana. */
  rent_recipient: string | null;
  routes_root: string;
  /** The stored routes of the root; null for the empty root. */
  route_set: Generated<string | null>;
  inbox_salt: string;
  inbox_hub: string;
  inbox_implementation: string;
  inbox_address: string;
  widget_token_hash: Uint8Array;
  customer_bound_at: Date | null;
  received_units: Generated<bigint>;
  counted_units: Generated<bigint>;
  /** Held until the chain's providers agree. */
  agreement_units: Generated<bigint>;
  /** Of the counted units, those that came after the intent had closed. */
  late_units: Generated<bigint>;
  settled_units: Generated<bigint>;
  fee_units: Generated<bigint>;
  net_units: Generated<bigint>;
  pending_count: Generated<number>;
  created_at: Date;
  updated_at: Date;
  settled_at: Date | null;
  archived_at: Date | null;
  return_url: Generated<string | null>;
  description: Generated<string | null>;
};

/** The routes that intents of one rail pin. Rows never change. */
export type RouteSetTable = {
  /** Hash of the other columns without the time, as 0x and 64 digits. */
  id: string;
  root: string;
  /** In the order of the leaves; the fields of the hub's `Route`, numbers as texts. */
  routes: unknown;
  /** What stands beside the leaves of each origin. */
  origins: unknown;
  created_at: Date;
};

/** A code that opens the checkout of an intent once, in another browser. Its use deletes it. */
export type CheckoutHandoffTable = { code_hash: Uint8Array; intent_id: string; expires_at: Date };

/** Whose an address is. Rows never change. */
export type InboxTable = {
  /** In the order in which numbers were drawn; what commits late has a lower one than what is there already. */
  seq: GeneratedAlways<bigint>;
  namespace: Namespace;
  /** Empty where the address is the same on every chain of the namespace. */
  reference: string;
  address: string;
  intent_id: string;
  /** The inbox that the intent commits to, or one that a gate issued beside it. */
  kind: "deposit" | "source";
  /** The mint on Solana; empty on EVM chains, where one address takes every token. */
  token: string;
  created_at: Date;
};

export type SourceInboxTable = {
  intent_id: string;
  namespace: Namespace;
  reference: string;
  /** The mint on Solana; empty on EVM chains, where one address takes every token. */
  token: string;
  address: string;
  issued_at: Date;
};

/** Origins that the operator switched on or off. An origin without a row is on. */
export type OriginSwitchTable = { chain: Caip2; token: string; is_enabled: boolean; changed_at: Date };

/** Every token that was ever configured. `symbol` is empty for tokens configured before this table existed. */
export type ServedTokenTable = { chain: Caip2; token: string; symbol: string; since: Date };

export type ViewHintTable = {
  intent_id: string;
  namespace: string;
  reference: string;
  token: string;
  expires_at: Date;
};

/** Stations may declare their tables beside their stores, and add them here. */
export interface Schema {
  event: EventTable;
  event_counter: EventCounterTable;
  event_expiry: EventExpiryTable;
  ledger_posting: LedgerPostingTable;
  ledger_entry: LedgerEntryTable;
  ledger_balance: LedgerBalanceTable;
  idempotent_answer: IdempotentAnswerTable;
  rate_log: RateLogTable;
  gas_account: GasAccountTable;
  outgoing_transaction: OutgoingTransactionTable;
  outgoing_attempt: OutgoingAttemptTable;
  account: AccountTable;
  api_key: ApiKeyTable;
  merchant_version: MerchantVersionTable;
  page_origin: PageOriginTable;
  account_brand: AccountBrandTable;
  deployment: DeploymentTable;
  route_set: RouteSetTable;
  intent: IntentTable;
  checkout_handoff: CheckoutHandoffTable;
  inbox: InboxTable;
  source_inbox: SourceInboxTable;
  origin_switch: OriginSwitchTable;
  served_token: ServedTokenTable;
  view_hint: ViewHintTable;
  chain_cursor: road.ChainCursorTable;
  block: road.BlockTable;
  movement: road.MovementTable;
  awaited_burn: road.AwaitedBurnTable;
  unreadable: road.UnreadableTable;
  unreadable_overflow: road.UnreadableOverflowTable;
  deposit: road.DepositTable;
  deposit_agreement: road.DepositAgreementTable;
  sweep_agreement: road.SweepAgreementTable;
  deposit_cursor: road.HandoverCursorTable;
  holding: road.HoldingTable;
  listed_deposit: road.ListedDepositView;
  crossing: road.CrossingTable;
  bridge_budget: road.BridgeBudgetTable;
  settlement: road.SettlementTable;
  settlement_cursor: road.HandoverCursorTable;
  quarantine: road.QuarantineTable;
  primed_account: road.PrimedAccountTable;
  webhook_endpoint: webhook.WebhookEndpointTable;
  webhook_cursor: webhook.WebhookCursorTable;
  webhook_delivery: webhook.WebhookDeliveryTable;
  webhook_attempt: webhook.WebhookAttemptTable;
  account_notification: webhook.AccountNotificationTable;
  account_notice: webhook.AccountNoticeTable;
}
