import type { Generated } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";

// The row types of the station bridge.

declare module "../db/schema.ts" {
  interface Schema {
    crossing: CrossingTable;
    bridge_budget: BridgeBudgetTable;
    burn_rent: BurnRentTable;
  }
}

/**
 * burned → attested → landed; landed → attested when a reorg drops the sweep. `burned`: the bridge took the units.
 * `attested`: its message to the settle chain is signed.
 */
export type CrossingStatus = "burned" | "attested" | "landed";

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
  /** 1: received in time. 2: receiving it costs more than it is worth. 3: below the minimum of its intent. */
  queue: Generated<number>;
  /** The transaction whose messages may hold the proof: its own, unless another burn holds its own proof. */
  proof_tx: string;
  status_since: Date;
  created_at: Date;
  updated_at: Date;
};

export type BridgeBudgetTable = { name: string; free_at: Date };

/** Landed burns that may still lock rent on their chain. `reclaim_at`: when it is asked for next. */
export type BurnRentTable = { movement_id: bigint; chain: Caip2; reclaim_at: Date };
