import { caip19 } from "../../kernel/caip.ts";
import type { Settlement } from "../settlement.ts";

/**
 * A settlement in the API and in events. Amounts are integer texts in the settled token's units, null until the chain
 * shows them.
 */
export type SettlementRecord = {
  object: "settlement";
  settlementId: string;
  intentId: string;
  status: Settlement["status"];
  caip19: string;
  grossUnits: string | null;
  feeUnits: string | null;
  routeCostUnits: string | null;
  netUnits: string | null;
  reason: string | null;
  /**
   * The transaction in which it landed. Of a bridged settlement first the one in which the bridge took the money. Empty
   * before.
   */
  txs: { txHash: string; chain: string; blockNumber: number | null }[];
  createdAt: string;
  submittedAt: string | null;
  landedAt: string | null;
};

export function settlementRecord(row: Settlement): SettlementRecord {
  return {
    object: "settlement",
    settlementId: row.id,
    intentId: row.intent_id,
    status: row.status,
    caip19: caip19(row.chain, row.token),
    grossUnits: row.gross_units?.toString() ?? null,
    feeUnits: row.fee_units?.toString() ?? null,
    routeCostUnits: row.route_cost_units?.toString() ?? null,
    netUnits: row.net_units?.toString() ?? null,
    reason: row.reason,
    txs: [
      ...transactionRecord(row.chain, row.chain_tx, row.block_number),
      ...transactionRecord(row.landed_chain, row.landed_chain_tx, row.landed_block_number),
    ],
    createdAt: row.created_at.toISOString(),
    submittedAt: row.submitted_at?.toISOString() ?? null,
    landedAt: row.landed_at?.toISOString() ?? null,
  };
}

function transactionRecord(
  chain: string | null,
  txHash: string | null,
  blockNumber: bigint | null,
): SettlementRecord["txs"] {
  if (chain === null || txHash === null) return [];
  return [{ txHash, chain, blockNumber: blockNumber === null ? null : Number(blockNumber) }];
}
