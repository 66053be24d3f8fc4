import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";

// The row types of the station watch.

declare module "../db/schema.ts" {
  interface Schema {
    chain_cursor: ChainCursorTable;
    block: BlockTable;
    movement: MovementTable;
    awaited_burn: UnmatchedMintTable;
    unreadable: UnreadableTable;
    unreadable_overflow: UnreadableOverflowTable;
    postponed: PostponedTable;
  }
}

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
  /** Whether a provider showed it first with another amount. */
  is_resized: Generated<boolean>;
  seen_at: Date;
  orphaned_at: Date | null;
};

/** A mint of an inbox's own burn that no crossing explains yet. */
export type UnmatchedMintTable = {
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

/** A transaction with nothing but dust, from a reading that found very many transfers: it is recorded later. */
export type PostponedTable = {
  chain: Caip2;
  chain_tx: string;
  block_number: bigint;
  /** The inboxes that it paid. */
  inboxes: string[];
  first_seen_at: Date;
  retry_at: Date;
};

/** How many such entries of a chain have no row, because it has too many. */
export type UnreadableOverflowTable = { chain: Caip2; left_out: bigint; last_seen_at: Date };
