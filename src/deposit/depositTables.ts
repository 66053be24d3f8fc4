import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";

// The row types of the station deposit.

declare module "../db/schema.ts" {
  interface Schema {
    deposit: DepositTable;
    holding: HoldingTable;
    listed_deposit: ListedDepositView;
    deposit_agreement: DepositAgreementTable;
  }
}

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
  /**
   * By each other chain of the intent, the last block that was final there by the strictest rule when it counted, as JSON
   * text; null where there was no other chain, or the last rule applied.
   */
  counted_elsewhere: Generated<string | null>;
  /** When the required number of providers agreed on the deposit. Null: only one provider has reported it. */
  agreed_at: Date | null;
  updated_at: Date;
  /** Whose intent it is. Null: written by a version that did not store it. */
  account_id: GeneratedAlways<string | null>;
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
  /** What of the waiting dust was found late in blocks that have counted: each of the three is a part of the one above. */
  late_count: Generated<bigint>;
  late_units: Generated<bigint>;
  late_held_units: Generated<bigint>;
  /** All dust of the blocks up to this one is counted, apart from what was found late there. */
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
