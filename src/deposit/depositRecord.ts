import { caip19, displayAddress } from "../kernel/caip.ts";
import type { ShownDeposit } from "./deposit.ts";

/**
 * A deposit as the API and the events show it. Amounts are integer texts: `amountUnits` in the deposited token's
 * smallest units, `countedUnits` in the payout token's.
 */
export type DepositRecord = {
  object: "deposit";
  depositId: string;
  intentId: string;
  status: ShownDeposit["status"];
  amountUnits: string;
  countedUnits: string;
  token: { symbol: string; address: string; decimals: number };
  caip19: string;
  from: string;
  txHash: string;
  position: number;
  blockNumber: number;
  blockHash: string;
  confirmations: number;
  requiredConfirmations: number | null;
  requiredSeconds: number | null;
  late: boolean;
  reason: string | null;
  settlementId: string | null;
  seenAt: string;
  countedAt: string | null;
};

export type DepositRecordContext = {
  /** The token's symbol, or its address when the catalogue no longer lists it. */
  symbol: string;
  /** The height of the last block that the watcher has read. */
  headNumber: bigint;
};

export function depositRecord(deposit: ShownDeposit, context: DepositRecordContext): DepositRecord {
  return {
    object: "deposit",
    depositId: deposit.id,
    intentId: deposit.intent_id,
    status: deposit.status,
    amountUnits: deposit.amount_units.toString(),
    countedUnits: deposit.counted_units.toString(),
    token: {
      symbol: context.symbol,
      address: displayAddress(deposit.chain, deposit.token),
      decimals: deposit.token_decimals,
    },
    caip19: caip19(deposit.chain, deposit.token),
    from: displayAddress(deposit.chain, deposit.sender),
    txHash: deposit.chain_tx,
    position: positionOf(deposit.identity),
    blockNumber: Number(deposit.block_number),
    blockHash: deposit.block_hash,
    confirmations: confirmationsOf(deposit, context.headNumber),
    requiredConfirmations: deposit.required_confirmations,
    requiredSeconds: deposit.required_seconds,
    late: deposit.late,
    reason: deposit.reason,
    settlementId: deposit.settlement_id,
    seenAt: deposit.seen_at.toISOString(),
    countedAt: deposit.counted_at?.toISOString() ?? null,
  };
}

/**
 * A number where the chain's kind counts a transaction's transfers. Where it names accounts, a transaction has one
 * transfer into an inbox.
 */
function positionOf(identity: string): number {
  return /^\d+$/.test(identity) ? Number(identity) : 0;
}

/** Confirmations of a deposit, its own block included; 0 when it is dropped. */
function confirmationsOf(deposit: ShownDeposit, headNumber: bigint): number {
  if (deposit.status === "dropped" || headNumber < deposit.block_number) return 0;
  return Number(headNumber - deposit.block_number) + 1;
}
