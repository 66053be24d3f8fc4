import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2, Namespace } from "../kernel/caip.ts";
import type { BalanceDifferenceTable, BalanceSweepTable } from "./balanceTables.ts";

// The row types of all tables, in the order of the stations that own them. numeric and int8 are bigint, bytea is Uint8Array,
// timestamptz is Date.

export type EventTable = {
  position: GeneratedAlways<bigint>;
  id: string;
  account_id: string;
  intent_id: string | null;
  type: string;
  livemode: boolean;
  merchant_reference: string | null;
  data: unknown;
  created_at: Date;
  sequence: bigint | null;
};

export type EventCounterTable = { account_id: string; last_sequence: bigint };

/** Events created up to this time may have been deleted. */
export type EventExpiryTable = { only_row: Generated<boolean>; expired_before: Date };

/** One booked fact of a chain. Its entries sum to zero in each asset. Rows never change; a later posting reverses them. */
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
  created_at: Date;
  submitted_at: Date | null;
};

export type AccountTable = {
  id: string;
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
};

/** Increases with every change of keys or accounts. */
export type MerchantVersionTable = { only_row: Generated<boolean>; version: bigint };

/** Web pages that may embed an account's checkout. */
export type PageOriginTable = { account_id: string; origin: string; added_at: Date };

export type DeploymentTable = { only_row: Generated<boolean>; deployment_id: Uint8Array; signing_secret: Uint8Array };

/** active → settled | archived; settled → archived | active (a reorg took a counted deposit away); archived is terminal. */
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
  routes_root: string;
  inbox_salt: string;
  inbox_hub: string;
  inbox_implementation: string;
  inbox_address: string;
  widget_token_hash: Uint8Array;
  customer_bound_at: Date | null;
  received_units: Generated<bigint>;
  counted_units: Generated<bigint>;
  settled_units: Generated<bigint>;
  fee_units: Generated<bigint>;
  net_units: Generated<bigint>;
  pending_count: Generated<number>;
  created_at: Date;
  updated_at: Date;
  settled_at: Date | null;
  archived_at: Date | null;
};

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

export type ChainCursorTable = {
  chain: Caip2;
  genesis_hash: string;
  number: bigint;
  hash: string;
  safe_number: Generated<bigint>;
  finalized_number: Generated<bigint>;
  reread_number: bigint;
  /** The last block whose movements are booked in the ledger. */
  booked_number: Generated<bigint>;
  revision: Generated<bigint>;
  /** The lowest block that a reorganisation went back to since the deposit station last looked; null without one. */
  rewound_number: Generated<bigint | null>;
  updated_at: Date;
};

export type BlockTable = {
  chain: Caip2;
  hash: string;
  number: bigint;
  parent_hash: string;
  orphaned_at: Date | null;
};

export type MovementTable = {
  id: GeneratedAlways<bigint>;
  chain: Caip2;
  chain_tx: string;
  identity: string;
  direction: "in" | "out";
  intent_id: string;
  inbox: string;
  token: string;
  counterparty: string;
  amount_units: bigint;
  block_number: bigint;
  block_hash: string;
  place: bigint;
  revision: bigint;
  explained_by: string | null;
  seen_at: Date;
  orphaned_at: Date | null;
};

/**
 * seen → confirmed → counted; seen | confirmed → held, and on from there once its providers agree; each → dropped when its block is
 * orphaned, and back to seen when it is mined again.
 */
export type DepositStatus = "seen" | "confirmed" | "counted" | "held" | "dropped";

export type DepositTable = {
  id: string;
  seq: GeneratedAlways<bigint>;
  movement_id: bigint;
  intent_id: string;
  chain: Caip2;
  token: string;
  token_decimals: number;
  sender: string;
  amount_units: bigint;
  counted_units: Generated<bigint>;
  status: DepositStatus;
  reason: string | null;
  late: Generated<boolean>;
  chain_tx: string;
  identity: string;
  block_number: bigint;
  block_hash: string;
  /** Null when the chain's own finality tag decides. */
  required_confirmations: number | null;
  settlement_id: string | null;
  seen_at: Date;
  confirmed_at: Date | null;
  counted_at: Date | null;
  /** When the required number of providers agreed on the deposit. Null: only one provider has reported it. */
  agreed_at: Date | null;
  updated_at: Date;
};

/**
 * What one inbox holds in one token: the sums of its dust, and the counted money that no landed sweep has taken. Amounts are in the token's
 * smallest unit.
 */
export type HoldingTable = {
  intent_id: string;
  chain: Caip2;
  token: string;
  /** The lowest block with dust that is not in the sums yet; null without one. */
  dust_from: bigint | null;
  /** Whether a reorganisation changed summed dust, so that the sums must be computed again. */
  is_stale: Generated<boolean>;
  /** The sums include the dust of all blocks up to this one. */
  dust_block: Generated<bigint>;
  /** Dust that is final and not counted, and how much of it no sweep has taken. */
  waiting_count: Generated<bigint>;
  waiting_units: Generated<bigint>;
  waiting_held_units: Generated<bigint>;
  /** All dust of the blocks up to this one is counted. */
  counted_block: Generated<bigint>;
  /** Counted dust, and how much of it no sweep has taken. */
  dust_count: Generated<bigint>;
  dust_units: Generated<bigint>;
  dust_held_units: Generated<bigint>;
  /** When dust last counted. */
  dust_counted_at: Date | null;
  /** Enough providers confirmed the inbox's balance with the dust of all blocks up to this one. */
  verified_block: Generated<bigint>;
  /** When the providers are asked next; null unless dust waits for them. */
  verify_from: Date | null;
  /** Counted money in the inbox: deposits and dust. */
  unswept_units: Generated<bigint>;
  /** When the oldest of it counted. */
  unswept_since: Date | null;
  /** Equal to `unswept_since` where a settlement should be planned; null otherwise. */
  due_from: Date | null;
};

/** A view of all transfers into inboxes that the deposit station has processed: deposits, and dust without a deposit row (`id` is null). */
export type ListedDepositView = {
  id: string | null;
  movement_id: bigint;
  intent_id: string;
  chain: Caip2;
  token: string;
  /** Null for dust. */
  token_decimals: number | null;
  sender: string;
  amount_units: bigint;
  counted_units: bigint;
  status: DepositStatus;
  reason: string | null;
  late: boolean;
  chain_tx: string;
  identity: string;
  block_number: bigint;
  block_hash: string;
  required_confirmations: number | null;
  settlement_id: string | null;
  seen_at: Date;
  counted_at: Date | null;
};

/** asking → agreed; back to asking when the deposit is mined in another block or reported again. */
export type DepositAgreementTable = {
  deposit_id: string;
  chain: Caip2;
  /** The block that the providers were asked about. */
  block_hash: string;
  state: "asking" | "agreed";
  /** The last answer of each provider. */
  answers: unknown;
  /** How often all providers were asked. */
  attempts: number;
  asked_at: Date;
  retry_at: Date | null;
};

/** planned → submitted → landed; planned | submitted → held → planned; any open one → failed; landed → submitted | failed on a reorg. */
export type SettlementStatus = "planned" | "submitted" | "bridging" | "landed" | "held" | "failed";

export type SettlementTable = {
  id: string;
  seq: GeneratedAlways<bigint>;
  intent_id: string;
  chain: Caip2;
  token: string;
  status: SettlementStatus;
  gross_units: bigint | null;
  fee_units: bigint | null;
  route_cost_units: bigint | null;
  net_units: bigint | null;
  reason: string | null;
  outgoing_id: bigint | null;
  chain_tx: string | null;
  block_number: bigint | null;
  attempts: Generated<number>;
  retry_at: Date | null;
  created_at: Date;
  submitted_at: Date | null;
  landed_at: Date | null;
  updated_at: Date;
};

/** A station's progress over the movements of a chain: the last (revision, id) that it processed. */
export type HandoverCursorTable = { chain: Caip2; revision: bigint; movement_id: bigint };

/** An intent whose movements a station could not process. The station processes the other intents, and retries this one later. */
export type QuarantineTable = {
  station: "deposit" | "settlement";
  chain: Caip2;
  intent_id: string;
  /** The last movement before the unprocessed ones. */
  revision: bigint;
  movement_id: bigint;
  /** The error of the last attempt. */
  reason: string;
  attempts: number;
  since: Date;
  retry_at: Date;
};

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
  deployment: DeploymentTable;
  intent: IntentTable;
  inbox: InboxTable;
  source_inbox: SourceInboxTable;
  origin_switch: OriginSwitchTable;
  served_token: ServedTokenTable;
  view_hint: ViewHintTable;
  chain_cursor: ChainCursorTable;
  block: BlockTable;
  movement: MovementTable;
  balance_sweep: BalanceSweepTable;
  balance_difference: BalanceDifferenceTable;
  deposit: DepositTable;
  deposit_agreement: DepositAgreementTable;
  deposit_cursor: HandoverCursorTable;
  holding: HoldingTable;
  listed_deposit: ListedDepositView;
  settlement: SettlementTable;
  settlement_cursor: HandoverCursorTable;
  quarantine: QuarantineTable;
}
