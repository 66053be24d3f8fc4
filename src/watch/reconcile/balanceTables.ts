import type { Generated } from "kysely";
import type { Caip2 } from "../../kernel/caip.ts";

// The row types of the comparison of balances with the ledger.

declare module "../../db/schema.ts" {
  interface Schema {
    balance_pass: BalancePassTable;
    balance_difference: BalanceDifferenceTable;
  }
}

/**
 * The inboxes that a pass compares: created, paid or viewed recently, or all. `other_tokens` compares what inboxes of
 * one token hold of the others. `settled` reads again what settlements moved.
 */
export type PassScope = "created" | "moved" | "viewed" | "all" | "other_tokens" | "settled";

/** One pass over a chain's inboxes that compares their balances with the ledger, and the last complete one. */
export type BalancePassTable = {
  chain: Caip2;
  scope: PassScope;
  started_at: Date;
  /** How far the pass is, in the order of its scope; null at its start. */
  position: string | null;
  compared_count: Generated<bigint>;
  /** When its next page is due. */
  next_at: Date;
  completed_at: Date | null;
  completed_count: bigint | null;
};

/** An inbox whose balance on the chain is not that of the ledger. */
export type BalanceDifferenceTable = {
  chain: Caip2;
  inbox: string;
  token: string;
  intent_id: string;
  /** The block of both balances. */
  block_number: bigint;
  ledger_units: bigint;
  chain_units: bigint;
  /** The lowest searched block, and the one at which the search ends; null until it is known. */
  searched_number: bigint;
  lowest_number: bigint | null;
  /** When the next part of the search is due. */
  next_at: Date;
  found_at: Date;
};
