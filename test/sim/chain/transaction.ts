import { hash } from "node:crypto";
import {
  parseTransaction,
  recoverTransactionAddress,
  keccak256,
  type Hex,
  type TransactionSerializedEIP1559,
} from "viem";
import type { Log } from "./machine.ts";

/**
 * One call of a transaction. `wei` is added to the account without a source; a negative value removes it. Only gas
 * accounts need any.
 */
export type ScriptedCall = { to: string; data?: string; wei?: bigint };

export type ScriptedTransaction = {
  chainTx: string;
  sender: string;
  nonce: bigint;
  /** Calls in order. A failed call fails the transaction, unless `ignoresCallFailures` is true. */
  calls: readonly ScriptedCall[];
  /** Replaces the calls in blocks of odd numbers: a contract may act differently when it is mined again. */
  oddBlockCalls?: readonly ScriptedCall[];
  /** Continues after a failed call, as a contract can. */
  ignoresCallFailures: boolean;
  /** Reverts at its end, after all calls. */
  reverts: boolean;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** Whether the sender pays for gas. The model ignores the gas of payers. */
  paysGas: boolean;
  /** The account that pays in the sender's place. */
  feePayer?: string;
  /** The last block that may include it. */
  lastBlock?: bigint;
};

export type ReceiptLog = Log & { logIndex: number };

export type ScriptedReceipt = {
  chainTx: string;
  sender: string;
  /** The transaction's index in the block. */
  index: number;
  blockNumber: bigint;
  blockHash: string;
  succeeded: boolean;
  gasUsed: bigint;
  logs: readonly ReceiptLog[];
};

export type ScriptedBlock = {
  number: bigint;
  hash: string;
  parentHash: string;
  timestampS: number;
  baseFee: bigint;
  /** Numbers blocks in order of creation, across all branches. */
  creationIndex: number;
  /** The state's mark before the block. */
  stateBefore: number;
  transactions: readonly ScriptedTransaction[];
  receipts: readonly ScriptedReceipt[];
};

/** 32 bytes, as `0x…`, that depend on all parts. */
export function hashOf(...parts: readonly (string | number | bigint)[]): string {
  return `0x${hash("sha256", parts.join("/"))}`;
}

/** Parses signed bytes. Returns undefined for an unsupported transaction. */
export async function parseSignedTransaction(
  raw: string,
): Promise<(ScriptedTransaction & { chainId: number }) | undefined> {
  try {
    const serializedTransaction = raw as TransactionSerializedEIP1559;
    const parsed = parseTransaction(serializedTransaction);
    const sender = await recoverTransactionAddress({ serializedTransaction });
    return {
      chainId: parsed.chainId,
      chainTx: keccak256(raw as Hex),
      sender: sender.toLowerCase(),
      nonce: BigInt(parsed.nonce ?? 0),
      calls: [{ to: (parsed.to ?? "0x").toLowerCase(), data: parsed.data ?? "0x" }],
      ignoresCallFailures: false,
      reverts: false,
      gasLimit: parsed.gas ?? 0n,
      maxFeePerGas: parsed.maxFeePerGas ?? 0n,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? 0n,
      paysGas: true,
    };
  } catch {
    return undefined;
  }
}
