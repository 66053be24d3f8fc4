import type { Caip2 } from "../kernel/caip.ts";
import type { SkippedEntries, UnreadableEntry, UnreadableVerdict } from "./unreadable/unreadableEntry.ts";

// A reader is one provider's view of one chain, of any kind. It requests and decodes; it keeps no cursor, decides
// nothing and never retries. The code above compares providers in the same way for every kind.

export type BlockRef = {
  number: bigint;
  hash: string;
  parentHash: string;
  /** Undefined where the provider has not kept it: such a block is as old as no rule asks. */
  timestampS: number | undefined;
  /**
   * A summary of the block's transfers, where its header has one. Only the kind's own `mayContainTransfers` reads it.
   */
  digest?: string;
};
/** Every provider knows `latest`. The other two are the chain's own finality. */
export type HeadTag = "latest" | "safe" | "finalized";

/** A block by its tag or its number. */
export type BlockPlace = HeadTag | bigint;
/** The chain's own final blocks. Not every chain has them. */
export type FinalHeads = { safe: BlockRef | undefined; finalized: BlockRef | undefined };

/** One token transfer as the chain reports it, before it is matched with inboxes. Addresses are in stored form. */
export type Transfer = {
  token: string;
  from: string;
  to: string;
  /** An integer text for BigInt(): converting only our few transfers saves time. */
  amountText: string;
  chainTx: string;
  /** Orders the transfers of one block. It changes when the transaction is mined again. */
  place: bigint;
  blockNumber: bigint;
  blockHash: string;
  /** See TransactionProof; absent when the answer does not show it. */
  identity?: string;
};

/** A transaction's block by the provider's record of that transaction, and the identities of its transfers. */
export type TransactionProof = {
  chainTx: string;
  blockNumber: bigint;
  blockHash: string;
  succeeded: boolean;
  /**
   * The identity of the transfer at a place of the block: a text of the kind's own that no reorg changes. Undefined
   * when the transaction has no transfer there.
   */
  readonly identityAt: (place: bigint) => string | undefined;
  /**
   * Every token transfer of the transaction, of any token and address. Throws ProviderFailed when malformed. Absent
   * where nothing is netted.
   */
  readonly transfers?: () => readonly ProvenTransfer[];
  /**
   * The crossings that begin or end in the transaction, in its order. Throws ProviderFailed when malformed. Absent
   * where no bridge is used.
   */
  readonly crossings?: () => readonly ProvenCrossing[];
};

/** One end of a crossing: the bridge took units on this chain, to give them on another, or gave what it took there. */
export type ProvenCrossing = {
  /** `out`: it took them here. */
  direction: "in" | "out";
  /** The bridge and the other end: `<bridge>/<domain>`, and for `in` also `/<message>`, which is unique. */
  name: string;
  /** Whose units the bridge took. Undefined for an account of another kind of chain. */
  sender: string | undefined;
  /** The same for such an account, where its kind is known. */
  foreignSender?: string | undefined;
  /** To whom it gives them. Undefined for an account of another kind of chain. */
  recipient: string | undefined;
  /** What moved on this chain, in the token's smallest units. */
  units: bigint;
  /** What the bridge kept of the units that it took; 0 for `out`. */
  feeUnits: bigint;
  /** For `in`: of the transfer that gave them. Undefined where the transaction does not show it. */
  identity?: string | undefined;
};

/** A transfer of a proven transaction. */
export type ProvenTransfer = Pick<Transfer, "token" | "from" | "to" | "amountText" | "place">;

/** Recognizes watched addresses, so that the reader parses only their transfers. */
export interface AddressFilter {
  /** Call it after the answer has arrived and before the search, so that it knows every address that can occur. */
  refresh(): Promise<void>;
  /** Whether a watched address stands at `offset` of an answer, as the kind's providers write it. */
  hasAt(bytes: Uint8Array, offset: number): boolean;
}

/** The transfers of a range that pass a filter; false positives are possible. */
export type FilteredTransfers = {
  transfers: Transfer[];
  /** The number of searched entries. */
  scannedCount: number;
  /** The hash of the range's last block, from an entry in it; undefined when it has no entry. */
  lastBlockHash: string | undefined;
};

/** The blocks of a range in their order, and their transfers. */
export type BlocksWithTransfers = { blocks: BlockRef[]; transfers: Transfer[] };

/** What owners hold of a token now, and the block of the answer: the lowest one, where it took several requests. */
export type Holdings = { blockNumber: bigint; units: bigint[] };

export type BlockRange = { fromBlock: bigint; toBlock: bigint };

/** What a reading leaves out although nobody can parse it. Without it everything in the scope must be readable. */
export type Skipping = { skipped?: SkippedEntries };

/**
 * One block, or a range. A block's number is verified as well, because an answer may have the right hash and a wrong
 * number.
 */
export type TransferScope = (BlockId | BlockRange) & Skipping;

export type BlockId = { blockHash: string; blockNumber: bigint };

/** `genesisHash`: undefined where the provider has pruned its first block. */
export type ChainIdentity = { caip2: Caip2; genesisHash: string | undefined };

export interface ChainReader {
  readonly caip2: Caip2;
  /** The provider's host for logs, without its key. */
  readonly name: string;
  /**
   * The sender that transfers of new tokens name, where a bridge mints. A transfer from it may be the end of a
   * crossing.
   */
  readonly mintSender?: string | undefined;
  identify(): Promise<ChainIdentity>;
  head(tag: HeadTag): Promise<BlockRef>;
  /** Several blocks in one request; undefined where the provider has no such block. Absent where that saves nothing. */
  blocksAt?(places: readonly BlockPlace[]): Promise<(BlockRef | undefined)[]>;
  /** Undefined when the provider does not have the block (yet, or any more). */
  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined>;
  /**
   * Every transfer of the tokens in the scope; with `parties` (at most 1,000), only those from or to one of them.
   * Throws when the answer is incomplete or the block hash unknown, and ProviderFailed `unreadable` with everything in
   * the scope that cannot be parsed.
   */
  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]>;
  /**
   * The blocks of a short range near the head, in their order, and every transfer of the tokens in them, from one
   * moment of one node. Undefined where the provider cannot, absent where the kind cannot: then each block is read by
   * its hash. With `isEndOnly` of the blocks only the last.
   */
  blocksWithTransfers?(
    range: BlockRange & Skipping & { isEndOnly?: boolean },
    tokens: readonly string[],
  ): Promise<BlocksWithTransfers | undefined>;
  /**
   * Whether the block may hold a transfer of one of the tokens, by its header alone. False positives are possible.
   * False for a header without a digest. Absent when headers never have one.
   */
  mayContainTransfers?(block: BlockRef, tokens: readonly string[]): boolean;
  /** Like `transfers` of a range, but parses only filtered ones. Absent where that saves nothing. */
  filterTransfers?(
    range: BlockRange & Skipping,
    tokens: readonly string[],
    filter: AddressFilter,
  ): Promise<FilteredTransfers>;
  /**
   * The same transfers of one block from another record of the provider, for a comparison with `transfers`. It costs
   * more. Absent where the provider has only one record.
   */
  recheckTransfers?(block: BlockId & Skipping, tokens: readonly string[]): Promise<Transfer[]>;
  /**
   * What the provider has of entries that could not be parsed, by their keys. An entry that it does not answer is
   * absent. Absent where the kind has no such entries.
   */
  recheckUnreadable?(entries: readonly UnreadableEntry[]): Promise<ReadonlyMap<string, UnreadableVerdict>>;
  /**
   * One proof for each transaction that the provider knows as mined, failed ones included. Throws `unreadable` as
   * `transfers` does.
   */
  proofs(chainTxs: readonly string[]): Promise<TransactionProof[]>;
  /** `block` of each number, in their order, and `proofs` in one request, where that saves requests. */
  blocksWithProofs?(
    numbers: readonly bigint[],
    chainTxs: readonly string[],
  ): Promise<{ blocks: (BlockRef | undefined)[]; proofs: TransactionProof[] }>;
  /** Balances of `token` in its smallest units at a block, in the order of `owners`. */
  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]>;
  /**
   * What each owner holds of the token at the `safe` head, in their order. Present where a chain is read by accounts.
   * There, `transfers` without parties lists only those of transactions that call the inbox program, `transfers` with
   * parties explains a changed holding, and `balances` knows no past block.
   */
  holdings?(token: string, owners: readonly string[]): Promise<Holdings>;
  /** Undefined when there is no token at the address. */
  tokenDecimals(token: string): Promise<number | undefined>;
  /** What the token calls itself; undefined when it does not. Absent where tokens have no names of their own. */
  tokenSymbol?(token: string): Promise<string | undefined>;
}

/** The seconds from one block to a later one, by the chain's own clock; undefined where a time is unknown. */
export function secondsBetween(earlier: BlockRef, later: BlockRef): number | undefined {
  if (earlier.timestampS === undefined || later.timestampS === undefined) return undefined;
  return later.timestampS - earlier.timestampS;
}

/** The chain refuses the request itself: retries and other providers give the same result. */
export class ChainRefused extends Error {
  override readonly name: string = "ChainRefused";
}

/** The range size that a refusal suggests. */
export type RangeSuggestion = {
  /** Blocks, at least 1. It may equal the requested number: some nodes suggest the refused range itself. */
  blocks: bigint;
  /** Whether it is a general limit; otherwise it fits these blocks only. */
  isLimit: boolean;
};

export type FailureDetails = ErrorOptions & {
  suggestion?: RangeSuggestion;
  retryAfterMs?: number;
  unreadable?: readonly UnreadableEntry[];
};

/** The provider gave no complete answer. A retry, or another provider, may help. */
export class ProviderFailed extends Error {
  override readonly name = "ProviderFailed";
  /**
   * `bad_answer`: a malformed one. `contradictory`: well formed, but it contradicts its request or another answer.
   * `unreadable`: complete, but no reader of this release can parse a part of it.
   */
  readonly kind:
    | "unreachable"
    | "timeout"
    | "rate_limited"
    | "range_too_large"
    | "unknown_block"
    | "bad_answer"
    | "contradictory"
    | "unreadable";
  /** Only for `range_too_large`, when the provider's text names a size. */
  readonly suggestion: RangeSuggestion | undefined;
  /** The delay that the provider requests, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Only for `unreadable`: what cannot be parsed. */
  readonly unreadable: readonly UnreadableEntry[];

  constructor(kind: ProviderFailed["kind"], message: string, details: FailureDetails = {}) {
    super(message, details);
    this.kind = kind;
    this.suggestion = details.suggestion;
    this.retryAfterMs = details.retryAfterMs;
    this.unreadable = details.unreadable ?? [];
  }
}

/**
 * The newest block and others by one provider, in one request where it can. Throws ProviderFailed without the newest
 * one.
 */
export async function readBlocksAt(
  reader: ChainReader,
  places: readonly BlockPlace[],
): Promise<{ latest: BlockRef; others: readonly (BlockRef | undefined)[] }> {
  if (!reader.blocksAt) {
    const [latest, ...others] = await Promise.all([
      reader.head("latest"),
      ...places.map((at) => findBlock(reader, at)),
    ]);
    return { latest, others };
  }
  const [latest, ...others] = await reader.blocksAt(["latest", ...places]);
  if (latest === undefined) throw new ProviderFailed("unknown_block", `${reader.name} knows no latest block`);
  return { latest, others };
}

const FINAL_TAGS = ["safe", "finalized"] as const;

/** The newest block and the final ones. */
export async function readAllHeads(reader: ChainReader): Promise<FinalHeads & { latest: BlockRef }> {
  const { latest, others } = await readBlocksAt(reader, FINAL_TAGS);
  const [safe, finalized] = others;
  return { latest, safe, finalized };
}

/** The final blocks by one provider. */
export async function readFinalHeads(reader: ChainReader): Promise<FinalHeads> {
  const [safe, finalized] = await (reader.blocksAt?.(FINAL_TAGS) ??
    Promise.all(FINAL_TAGS.map((tag) => findBlock(reader, tag))));
  return { safe, finalized };
}

/** A chain without tags always answers with an error; its deposits count by confirmations. */
async function findBlock(reader: ChainReader, place: BlockPlace): Promise<BlockRef | undefined> {
  if (typeof place === "bigint") return reader.block({ number: place });
  try {
    return await reader.head(place);
  } catch (error) {
    if (error instanceof ProviderFailed) return undefined;
    throw error;
  }
}

/**
 * Balances at a block, or of later blocks where past ones are not kept, as Holdings. Throws ProviderFailed
 * `unknown_block` when the provider does not have the block yet.
 */
export async function balancesSince(
  reader: ChainReader,
  token: string,
  { owners, blockNumber }: { owners: readonly string[]; blockNumber: bigint },
): Promise<bigint[]> {
  if (reader.holdings === undefined) return reader.balances(token, owners, { blockNumber });
  const holdings = await reader.holdings(token, owners);
  if (holdings.blockNumber < blockNumber)
    throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${blockNumber}`);
  return holdings.units;
}
