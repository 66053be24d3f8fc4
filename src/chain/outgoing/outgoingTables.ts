import type { Generated, GeneratedAlways } from "kysely";
import type { Caip2 } from "../../kernel/caip.ts";

// The row types of what the service sends to chains.

declare module "../../db/schema.ts" {
  interface Schema {
    gas_account: GasAccountTable;
    outgoing_transaction: OutgoingTransactionTable;
    outgoing_attempt: OutgoingAttemptTable;
  }
}

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
