import type { Caip2 } from "../kernel/caip.ts";

// A reader is one provider's view of one chain, of whatever kind. It asks, decodes and hands over: it keeps no cursor, decides nothing and
// never retries. The code above compares providers, in the same way for every kind.

export type BlockRef = {
  number: bigint;
  hash: string;
  parentHash: string;
  timestampS: number;
  /** A summary of the block's transfers, where its header has one. Only readers of the same kind understand it, in `mayContainTransfers`. */
  digest?: string;
};
/** Every provider knows `latest`. The other two are the chain's own finality. */
export type HeadTag = "latest" | "safe" | "finalized";

/** One transfer of a token as the chain reports it, before inboxes are matched. Addresses are in stored form. */
export type Transfer = {
  token: string;
  from: string;
  to: string;
  /** An integer text that BigInt() reads: only the few that concern us are worth converting. */
  amountText: string;
  chainTx: string;
  /** Orders the transfers of one block. It changes when the transaction is mined again. */
  place: bigint;
  blockNumber: bigint;
  blockHash: string;
  /** See TransactionProof; absent where the answer that held the transfer does not show it. */
  identity?: string;
};

/** Where one transaction stands by a provider's record of that transaction, and which transfers it made. */
export type TransactionProof = {
  chainTx: string;
  blockNumber: bigint;
  blockHash: string;
  succeeded: boolean;
  /**
   * Names the transfer at a place of the block: a text of the kind's own, the same in whichever block the transaction is mined. Undefined
   * where the record shows that this transaction has no transfer there.
   */
  readonly identityAt: (place: bigint) => string | undefined;
};

/** Recognizes watched addresses, so that the reader makes values of the few transfers that concern them. */
export interface AddressFilter {
  /** To be called after the answer has arrived and before it is searched: then it knows every address that can be in it. */
  refresh(): Promise<void>;
  /** Whether a watched address stands at `offset` of an answer, as the kind's providers write it. */
  hasAt(bytes: Uint8Array, offset: number): boolean;
}

/** The transfers of a range that pass a filter. Some of them may concern no watched address. */
export type FilteredTransfers = {
  transfers: Transfer[];
  /** How many entries were searched. */
  scannedCount: number;
  /** The hash of the range's last block, from an entry in it; undefined where it has none. */
  lastBlockHash: string | undefined;
};

export type BlockRange = { fromBlock: bigint; toBlock: bigint };

export type TransferScope = { blockHash: string } | BlockRange;

export type ChainIdentity = { caip2: Caip2; genesisHash: string };

export interface ChainReader {
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
   * Whether the block may hold a transfer of one of the tokens, by its header alone. False is certain, and so is false for a header without
   * a digest; true may be chance. Absent where headers never have one.
   */
  mayContainTransfers?(block: BlockRef, tokens: readonly string[]): boolean;
  /** Like `transfers` of a range, without making values of those that concern nobody. Absent where that saves nothing. */
  filterTransfers?(range: BlockRange, tokens: readonly string[], filter: AddressFilter): Promise<FilteredTransfers>;
  /** One proof for each of the transactions that the provider knows as mined, failed ones included. */
  proofs(chainTxs: readonly string[]): Promise<TransactionProof[]>;
  /** `block` and `proofs` in one request, where that saves one. */
  blockWithProofs?(
    number: bigint,
    chainTxs: readonly string[],
  ): Promise<{ block: BlockRef | undefined; proofs: TransactionProof[] }>;
  /** Balances of `token` in its smallest units, in the order of `owners`, at a block. */
  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]>;
  /** Undefined when there is no token at the address. */
  tokenDecimals(token: string): Promise<number | undefined>;
}

/** The chain refuses the request itself: asking again, or another provider, changes nothing. */
export class ChainRefused extends Error {
  override readonly name: string = "ChainRefused";
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
