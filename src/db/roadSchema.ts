import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";

// The row types of the stations watch, deposit and settlement. numeric and int8 are bigint, timestamptz is Date.

export type ChainCursorTable = {
  chain: Caip2;
  /** Null where every provider had pruned the first block. */
  genesis_hash: string | null;
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
  /** Blocks up to this one were pruned; those that are left hold movements. */
  pruned_number: Generated<bigint>;
  updated_at: Date;
};

export type BlockTable = {
  chain: Caip2;
  hash: string;
  number: bigint;
  parent_hash: string;
  /** Its time on the chain's own clock. Null for blocks of earlier versions, which are final by no rule in seconds. */
  timestamp_s: Generated<bigint | null>;
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
  /**
   * Of a transfer that the hub netted: the fee in it, the place of the batch's last payment, and the fee that the hub
   * paid for the batch.
   */
  fee_units: bigint | null;
  batch_place: bigint | null;
  batch_fee_units: bigint | null;
  block_number: bigint;
  block_hash: string;
  place: bigint;
  revision: bigint;
  /**
   * Of a transfer by which a bridge took from the inbox, or gave it what it took elsewhere: its name, and what the
   * bridge kept.
   */
  explained_by: string | null;
  bridge_fee_units: bigint | null;
  /** Of a mint whose burn has not been known for an hour: it counts for the inbox that holds it. */
  in_suspense: Generated<boolean>;
  seen_at: Date;
  orphaned_at: Date | null;
};

/**
 * seen → confirmed → counted; seen | confirmed → held, and on from there once its providers agree; each → dropped when
 * its block is orphaned, and back to seen when it is mined again.
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
  /** Null when seconds or the chain's own finality tag decide. */
  required_confirmations: number | null;
  /** Null when confirmations or the chain's own finality tag decide. */
  required_seconds: number | null;
  settlement_id: string | null;
  seen_at: Date;
  confirmed_at: Date | null;
  counted_at: Date | null;
  /** The last block that was final by its rule when it counted; null while it does not count. */
  counted_final_block: Generated<bigint | null>;
  /** The same of the next stricter rule, and what its own allows above that; null for the last rule. */
  counted_next_block: Generated<bigint | null>;
  counted_limit_units: Generated<bigint | null>;
  /** When the required number of providers agreed on the deposit. Null: only one provider has reported it. */
  agreed_at: Date | null;
  updated_at: Date;
};

/**
 * What one inbox holds in one token: the sums of its dust, and the counted money that no landed sweep has taken.
 * Amounts are in the token's smallest unit.
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
  /** The last transfer out of the inbox, where one left money in it; may be null otherwise. */
  rest_block: bigint | null;
  rest_place: bigint | null;
  /** When that transfer was seen. */
  rest_since: Date | null;
  /** What it left in the inbox, and how much of that is counted. */
  rest_units: Generated<bigint>;
  rest_counted_units: Generated<bigint>;
  /** Mints in suspense that no sweep has taken. */
  suspense_units: Generated<bigint>;
  /**
   * Money in the inbox that a settlement moves: counted deposits, dust and what a sweep left, and mints in suspense.
   */
  unswept_units: Generated<bigint>;
  /** When the oldest of it counted. */
  unswept_since: Date | null;
  /** Equal to `unswept_since` where a settlement should be planned; null otherwise. */
  due_from: Date | null;
};

/**
 * A view of all transfers into inboxes that the deposit station has processed: deposits, and dust without a deposit row
 * (`id` is null).
 */
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
  /** Null for dust. */
  late: boolean | null;
  chain_tx: string;
  identity: string;
  block_number: bigint;
  block_hash: string;
  required_confirmations: number | null;
  required_seconds: number | null;
  settlement_id: string | null;
  seen_at: Date;
  counted_at: Date | null;
  inbox: string;
  /** The installation's identity in hex, for the ids of dust. */
  deployment: string;
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

/** asking → agreed; back to asking when a movement of the sweep changes. */
export type SweepAgreementTable = {
  chain: Caip2;
  chain_tx: string;
  intent_id: string;
  token: string;
  /**
   * The movements that the providers were asked about: their highest revision and their number. Each change raises or
   * lowers one of them.
   */
  legs_revision: bigint;
  legs_count: number;
  state: "asking" | "agreed";
  /** The last answer of each provider. */
  answers: unknown;
  /** How often all providers were asked. */
  attempts: number;
  asked_at: Date;
  retry_at: Date | null;
};

/**
 * burned → attested → landed; landed → attested when a reorg drops the sweep. `burned`: the bridge took the units.
 * `attested`: its message to the settle chain is signed.
 */
export type CrossingStatus = "burned" | "attested" | "landed";

/** A mint of an inbox's own burn that no crossing explains yet. */
export type AwaitedBurnTable = {
  /** The movement by which the bridge gave the units. */
  mint_id: bigint;
  /** The chain of the mint. */
  settle_chain: Caip2;
  /** The bridge and the other end, as `explained_by` of the movement without its number. */
  bridge: string;
  /** The lowest block of the burn's chain that this search has read; null between two searches. */
  searched_number: bigint | null;
  /** The block at which a search ends; null until it is known. */
  lowest_number: bigint | null;
  attempts: Generated<number>;
  next_at: Date;
  /** Since when no open burn may explain it. */
  unexplained_since: Date;
  /** Since when the mint is in suspense. */
  suspended_at: Date | null;
};

export type CrossingTable = {
  /** The movement by which the bridge took the units. */
  movement_id: bigint;
  intent_id: string;
  chain: Caip2;
  chain_tx: string;
  token: string;
  units: bigint;
  /** The bridge and the other end, as `explained_by` of the movement. */
  bridge: string;
  settle_chain: Caip2;
  status: CrossingStatus;
  message: string | null;
  attestation: string | null;
  /** `explained_by` of the movement by which the bridge gives the units. */
  mint: string | null;
  /** The last block of the settle chain that takes the message; null for any. */
  expires_at_block: bigint | null;
  /** Our last transaction that receives the message. */
  outgoing_id: bigint | null;
  attempts: Generated<number>;
  retry_at: Date | null;
  reason: string | null;
  /** 1: received in time. 2: worth less than its receipt. 3: below the minimum of its intent. */
  queue: Generated<number>;
  /** The transaction whose messages may hold the proof: its own, unless another burn holds its own proof. */
  proof_tx: string;
  status_since: Date;
  created_at: Date;
  updated_at: Date;
};

export type BridgeBudgetTable = { name: string; free_at: Date };

/**
 * planned → submitted → landed, by a bridge submitted → bridging → landed; planned | submitted → held → planned; any
 * open one → failed; landed | bridging → submitted | failed on a reorg, and landed → bridging on one of the settle
 * chain.
 */
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
  /** The movement by which a bridge took the settlement's money; null for every other one. */
  burn_id: bigint | null;
  block_number: bigint | null;
  attempts: Generated<number>;
  retry_at: Date | null;
  created_at: Date;
  submitted_at: Date | null;
  landed_at: Date | null;
  /** The sweep on the settle chain with which a bridged settlement landed; null for every other one. */
  landed_chain: Caip2 | null;
  landed_chain_tx: string | null;
  landed_block_number: bigint | null;
  updated_at: Date;
};

/**
 * planned → submitted → open → closing → open … → closed; submitted → planned when the transaction expired. Any →
 * closed.
 */
export type PrimedAccountStatus = "planned" | "submitted" | "open" | "closing" | "closed";

/** An account that this service creates, so that an inbox can receive a token, and closes again. */
export type PrimedAccountTable = {
  id: GeneratedAlways<bigint>;
  chain: Caip2;
  intent_id: string;
  /** The merchant account of the intent. */
  account_id: string;
  token: string;
  status: PrimedAccountStatus;
  /** Why it is closed, or is not closed yet. */
  reason: string | null;
  /** The last transaction that creates or closes it. */
  outgoing_id: bigint | null;
  /** The unused account is closed after this time; each report of a payer's view moves it. */
  keep_until: Date;
  /** When the next step is due. */
  retry_at: Date;
  created_at: Date;
  closed_at: Date | null;
};

/** A station's progress over the movements of a chain: the last (revision, id) that it processed. */
export type HandoverCursorTable = { chain: Caip2; revision: bigint; movement_id: bigint };

/**
 * An intent whose movements a station could not process. The station processes the other intents, and retries this one
 * later.
 */
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

/**
 * What every provider of a chain answers alike, no reader can parse, and names an inbox or the program that empties
 * inboxes.
 */
export type UnreadableTable = {
  chain: Caip2;
  /** The transaction, log or account, as the kind of chain names it. */
  subject: string;
  kind: "transaction" | "log" | "account";
  chain_tx: string | null;
  block_number: bigint | null;
  /** Its place in the block, where that is known. */
  place: bigint | null;
  /** The inboxes that its raw text names, as far as they are known. */
  inboxes: string[];
  names_program: boolean;
  reason: string;
  /** Who answered so when the row was stored. */
  providers: string;
  first_seen_at: Date;
  last_seen_at: Date;
  tries: Generated<number>;
  retry_at: Date;
};

/** How many such entries of a chain have no row, because it has too many. */
export type UnreadableOverflowTable = { chain: Caip2; left_out: bigint; last_seen_at: Date };
