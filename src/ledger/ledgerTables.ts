import type { GeneratedAlways } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";

// The row types of the ledger.

declare module "../db/schema.ts" {
  interface Schema {
    ledger_posting: LedgerPostingTable;
    ledger_entry: LedgerEntryTable;
    ledger_balance: LedgerBalanceTable;
  }
}

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
