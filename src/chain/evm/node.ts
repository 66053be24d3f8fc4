import { ChainRefused, type ChainReader } from "../reader.ts";

// What the EVM kind asks of a node beyond the reader: everything that sending takes. Nothing above src/chain/evm knows of it.

export type EvmReceipt = {
  chainTx: string;
  blockNumber: bigint;
  blockHash: string;
  succeeded: boolean;
  gasUsed: bigint;
};

/** What a transaction may cost, in wei per gas. */
export type FeeQuote = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

export type EvmCall = { from?: string; to: string; data: string };

/**
 * How a provider answered a broadcast. `untakeable`: the bytes break a rule, of the chain or of this node, and offering them again changes
 * nothing. `unknown` is no failure: the bytes may be on their way; `hasNodeReply` when a node has at least looked at them.
 */
export type SubmitOutcome =
  | { kind: "accepted" }
  | { kind: "known" }
  | { kind: "nonce_used" }
  | { kind: "underpriced" }
  | { kind: "no_funds" }
  | { kind: "untakeable"; reason: string }
  | { kind: "unknown"; reason: string; hasNodeReply?: boolean };

/** The most gas of a transaction: what Ethereum allows any of them (EIP-7825), and room for the largest batch worth sending elsewhere. */
export const TRANSACTION_GAS_MAX = 16_777_216n;

/** One provider of an EVM chain. */
export interface EvmNode extends ChainReader {
  receipt(chainTx: string): Promise<EvmReceipt | undefined>;
  hasCode(address: string): Promise<boolean>;
  /** Transactions sent from `address` in blocks up to the latest. */
  nonce(address: string): Promise<bigint>;
  nativeBalance(address: string): Promise<bigint>;
  fees(): Promise<FeeQuote>;
  /** Gas that the call would use now. Throws CallReverted when it would revert. */
  estimateGas(call: EvmCall): Promise<bigint>;
  /** Returned bytes of a read-only call. Throws CallReverted when it reverts. */
  call(call: EvmCall): Promise<string>;
  /** Where there are several nodes the bytes go to one that takes them, or to `all`. */
  submit(rawTransaction: string, to?: "one" | "all"): Promise<SubmitOutcome>;
}

/** The chain ran the call and refused it. */
export class CallReverted extends ChainRefused {
  override readonly name = "CallReverted";
}
