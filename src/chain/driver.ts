import type { Caip2 } from "../kernel/caip.ts";

// A driver is one provider's view of one chain, and it is dumb: it asks, decodes and hands over. It keeps no cursor, decides
// nothing and never retries; what several providers mean together is decided above it, alike for every kind of chain.

export type BlockRef = {
  number: bigint;
  hash: string;
  parentHash: string;
  timestampS: number;
  /** What the header says of the block's logs, where it says anything; only the chain's drivers can read it, by `mayContainTransfers`. */
  logsBloom?: string;
};
/** `latest` is always known; the other two are the chain's own word on how final a block is. */
export type HeadTag = "latest" | "safe" | "finalized";

/** One transfer of a token as the chain reports it, before anybody asked whether it is ours. Addresses are in stored form. */
export type Transfer = {
  token: string;
  from: string;
  to: string;
  /** An integer text that BigInt() reads: only the few that concern us are worth converting. */
  amountText: string;
  chainTx: string;
  /** Place within the block: orders movements, but changes when the transaction is mined again. */
  logIndex: number;
  blockNumber: bigint;
  blockHash: string;
  /** Place inside its transaction's receipt, where the answer that held it shows it already. */
  position?: number;
};

/** Where the transfers of a transaction stand inside its own receipt: the part of its identity that a reorg leaves alone. */
export type ReceiptPosition = { chainTx: string; blockHash: string; succeeded: boolean; logIndexFirst: number };

/** Tells which transfers concern somebody, so that of many only these few are made values of. */
export interface AddressFilter {
  /** Asked once the answer is there and before it is looked through: of whomever it can speak is known by then. */
  refresh(): Promise<void>;
  /** Whether the 40 hex digits (ASCII) at `offset` are an address that is looked for. */
  hasHexAt(bytes: Uint8Array, offset: number): boolean;
}

/** What a range held for a sieve. Transfers that concern nobody may be among it. */
export type FilteredTransfers = {
  transfers: Transfer[];
  /** How many logs were looked through. */
  logCount: number;
  /** The hash of the range's last block, by a log that stands in it; undefined where none does. */
  lastBlockHash: string | undefined;
};

export type BlockRange = { fromBlock: bigint; toBlock: bigint };

export type TransferScope = { blockHash: string } | BlockRange;

export type ChainReceipt = {
  chainTx: string;
  blockNumber: bigint;
  blockHash: string;
  succeeded: boolean;
  gasUsed: bigint;
};

/** What a transaction may cost, in wei per gas. */
export type FeeQuote = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

export type ChainCall = { from?: string; to: string; data: string };

export type ChainIdentity = { caip2: Caip2; genesisHash: string };

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

export interface ChainDriver {
  readonly caip2: Caip2;
  /** For logs: the host of the provider, never its key. */
  readonly name: string;
  identify(): Promise<ChainIdentity>;
  head(tag: HeadTag): Promise<BlockRef>;
  /** Undefined when the provider does not know the block (yet, or any more). */
  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined>;
  /**
   * Every transfer of the tokens in the scope; with `parties` (at most 1,000), those alone that come from or go to one of them.
   * Throws when the answer is not whole; an unknown block hash throws too.
   */
  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]>;
  /**
   * Whether the block may hold a transfer of one of the tokens, by its header alone. False is certain, and so is false for a header that says
   * nothing of its logs; true may be chance. A driver whose headers never say anything lacks it.
   */
  mayContainTransfers?(block: BlockRef, tokens: readonly string[]): boolean;
  /** Like `transfers` of a range, without making values of those that concern nobody. A driver that lacks it has nothing to gain by it. */
  filterTransfers?(range: BlockRange, tokens: readonly string[], filter: AddressFilter): Promise<FilteredTransfers>;
  /** One entry a transaction that the provider knows as mined. */
  receiptPositions(chainTxs: readonly string[]): Promise<ReceiptPosition[]>;
  /** `block` and `positions` in one question, where that saves a question. */
  blockWithPositions?(
    number: bigint,
    chainTxs: readonly string[],
  ): Promise<{ block: BlockRef | undefined; positions: ReceiptPosition[] }>;
  receipt(chainTx: string): Promise<ChainReceipt | undefined>;
  /** Balances of `token` in its smallest units, in the order of `owners`, at a block. */
  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]>;
  tokenDecimals(token: string): Promise<number>;
  hasCode(address: string): Promise<boolean>;
  /** Transactions sent from `address` in blocks up to the latest. */
  nonce(address: string): Promise<bigint>;
  nativeBalance(address: string): Promise<bigint>;
  fees(): Promise<FeeQuote>;
  /** Gas that the call would use now. Throws CallReverted when it would revert. */
  estimateGas(call: ChainCall): Promise<bigint>;
  /** Returned bytes of a read-only call. Throws CallReverted when it reverts. */
  call(call: ChainCall): Promise<string>;
  /** Where there are several nodes the bytes go to one that takes them, or to `all`. */
  submit(rawTransaction: string, to?: "one" | "all"): Promise<SubmitOutcome>;
}

/** The chain ran the call and refused it: asking again changes nothing. */
export class CallReverted extends Error {
  override readonly name = "CallReverted";
}

/** What a refusal of a range says would be answered instead. */
export type RangeSuggestion = {
  /** How many blocks, at least 1. It can be as many as were asked for: some nodes name the refused range itself. */
  blocks: bigint;
  /** Whether more are never answered, whatever they hold; otherwise it is what would do for the blocks asked for. */
  isLimit: boolean;
};

export type FailureDetails = ErrorOptions & { suggestion?: RangeSuggestion; retryAfterMs?: number };

/** The provider did not answer, or not wholly. Asking again, or another provider, may help. */
export class ProviderFailed extends Error {
  override readonly name = "ProviderFailed";
  readonly kind: "unreachable" | "timeout" | "rate_limited" | "range_too_large" | "unknown_block" | "bad_answer";
  /** Only with `range_too_large`, where the provider's words name a size. */
  readonly suggestion: RangeSuggestion | undefined;
  /** For how long the provider wants to be left alone, where it says so. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: ProviderFailed["kind"], message: string, details: FailureDetails = {}) {
    super(message, details);
    this.kind = kind;
    this.suggestion = details.suggestion;
    this.retryAfterMs = details.retryAfterMs;
  }
}
