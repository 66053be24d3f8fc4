import { ChainRefused, type ChainReader } from "../reader.ts";

// What the EVM kind needs from a node beyond reading: everything for sending. Only src/chain/evm uses it.

export type EvmReceipt = {
  chainTx: string;
  blockNumber: bigint;
  blockHash: string;
  succeeded: boolean;
  gasUsed: bigint;
};

/** The price of gas in the next block, in wei per gas. */
export type FeeQuote = { baseFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** A transaction's fee limits, in wei per gas. */
export type FeeLimits = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** `gas` is the gas limit of a simulated call; absent: the node's own limit. */
export type EvmCall = { from?: string; to: string; data: string; gas?: bigint };

/** A simulated call. Without `to` it executes `data` as the creation code of a contract. */
export type SimulatedCall = Omit<EvmCall, "to"> & { to?: string };

/**
 * A provider's answer to a broadcast. `untakeable`: the bytes break a rule of the chain or of this node, so retries are
 * useless. `unknown` is no failure, because the bytes may be propagating; `hasNodeReply` when a node has checked them.
 */
export type SubmitOutcome =
  | { kind: "accepted" }
  | { kind: "known" }
  | { kind: "nonce_used" }
  | { kind: "underpriced" }
  | { kind: "no_funds" }
  | { kind: "untakeable"; reason: string }
  | { kind: "unknown"; reason: string; hasNodeReply?: boolean };

/** One provider of an EVM chain. */
export interface EvmNode extends ChainReader {
  receipt(chainTx: string): Promise<EvmReceipt | undefined>;
  hasCode(address: string): Promise<boolean>;
  /** Transactions from `address` in blocks up to the latest. */
  nonce(address: string): Promise<bigint>;
  nativeBalance(address: string): Promise<bigint>;
  fees(): Promise<FeeQuote>;
  /** The gas limit of the latest block, which no transaction can exceed. */
  blockGasLimit(): Promise<bigint>;
  /** Gas that the call would use now. Throws CallReverted when it would revert. */
  estimateGas(call: EvmCall): Promise<bigint>;
  /** Returned bytes of a simulated call. Throws CallReverted when it reverts or runs out of gas. */
  call(call: SimulatedCall): Promise<string>;
  /** With several nodes: `one` stops at the first that accepts the bytes, `all` sends to each. */
  submit(rawTransaction: string, to?: "one" | "all"): Promise<SubmitOutcome>;
}

/** The chain executed the call and reverted it. */
export class CallReverted extends ChainRefused {
  override readonly name = "CallReverted";
}
