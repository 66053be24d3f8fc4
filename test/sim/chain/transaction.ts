import { hash } from "node:crypto";
import {
  parseTransaction,
  recoverTransactionAddress,
  keccak256,
  type Hex,
  type TransactionSerializedEIP1559,
} from "viem";
import type { Log } from "./machine.ts";

/** One call of a transaction. `wei` comes out of nowhere, or goes there when it is negative: nobody but a gas account has to have any. */
export type ScriptedCall = { to: string; data?: string; wei?: bigint };

export type ScriptedTransaction = {
  chainTx: string;
  sender: string;
  nonce: bigint;
  /** Made one after the other; one that fails makes the transaction fail, unless it is `ignoresCallFailures`. */
  calls: readonly ScriptedCall[];
  /** Made instead in blocks of odd numbers: a contract may do something else when it is mined again. */
  oddBlockCalls?: readonly ScriptedCall[];
  /** Goes on after a call that failed, as a contract can. */
  ignoresCallFailures: boolean;
  /** Fails at its end, after having made its calls. */
  reverts: boolean;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** Whether the sender pays for the gas. Payers' gas is nobody's concern here. */
  paysGas: boolean;
  /** Who pays in its sender's place. */
  feePayer?: string;
  /** No later block may hold it. */
  lastBlock?: bigint;
};

export type ReceiptLog = Log & { logIndex: number };

export type ScriptedReceipt = {
  chainTx: string;
  sender: string;
  /** Its transaction's place in the block. */
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
  /** Counts blocks in the order in which they were made, whatever branch they are on. */
  creationIndex: number;
  /** Where the state stood before it. */
  stateBefore: number;
  transactions: readonly ScriptedTransaction[];
  receipts: readonly ScriptedReceipt[];
};

/** 32 bytes that depend on all the parts, as `0x…`. */
export function hashOf(...parts: readonly (string | number | bigint)[]): string {
  return `0x${hash("sha256", parts.join("/"))}`;
}

/** Reads signed bytes. Undefined when they are no transaction of a kind that is known here. */
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
