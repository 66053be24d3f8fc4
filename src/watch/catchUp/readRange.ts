import {
  ProviderFailed,
  type BlockRange,
  type BlockRef,
  type ChainReader,
  type RangeSuggestion,
  type TransactionProof,
  type FilteredTransfers,
  type AddressFilter,
  type Transfer,
} from "../../chain/reader.ts";
import { filterInboxTransfers, assignIdentities, chainTxsWithoutIdentity, type LocatedTransfer } from "../movement.ts";

export type RangeTransfers = { range: BlockRange; end: BlockRef; transfers: readonly Transfer[] };

/**
 * Reads a range and the block that ends it. Nodes answer a range that reaches beyond their head with an empty list, so the
 * end must be known to the provider that answered, and be the block in which the logs of its number stand.
 */
export async function readRange(
  reader: ChainReader,
  range: BlockRange,
  tokens: readonly string[],
): Promise<RangeTransfers> {
  const [end, transfers] = await Promise.all([
    reader.block({ number: range.toBlock }),
    reader.transfers(range, tokens),
  ]);
  return {
    range,
    end: requireEndBlock(reader, { range, end, endHash: findBlockHash(range.toBlock, transfers) }),
    transfers,
  };
}

export type FilteredRange = {
  range: BlockRange;
  end: BlockRef;
  located: readonly LocatedTransfer[];
  scannedCount: number;
};
export type InboxFilter = AddressFilter & { has(address: string): boolean };

/** What a range holds that concerns the inboxes that are known here, in two questions: the logs, and then whatever belongs to those found. */
export async function readFilteredRange(
  reader: ChainReader,
  range: BlockRange,
  { tokens, known }: { tokens: readonly string[]; known: InboxFilter },
): Promise<FilteredRange> {
  const { transfers, scannedCount, lastBlockHash } = await filterTransfers(reader, range, { tokens, known });
  const candidates = filterInboxTransfers(transfers, (address) => known.has(address));
  const { block, proofs } = await blockWithProofs(reader, range.toBlock, chainTxsWithoutIdentity(candidates));
  const end = requireEndBlock(reader, { range, end: block, endHash: lastBlockHash });
  return { range, end, located: assignIdentities(candidates, proofs), scannedCount };
}

async function filterTransfers(
  reader: ChainReader,
  range: BlockRange,
  { tokens, known }: { tokens: readonly string[]; known: InboxFilter },
): Promise<FilteredTransfers> {
  if (reader.filterTransfers) return reader.filterTransfers(range, tokens, known);
  const transfers = await reader.transfers(range, tokens);
  await known.refresh();
  return { transfers, scannedCount: transfers.length, lastBlockHash: findBlockHash(range.toBlock, transfers) };
}

async function blockWithProofs(
  reader: ChainReader,
  number: bigint,
  chainTxs: readonly string[],
): Promise<{ block: BlockRef | undefined; proofs: readonly TransactionProof[] }> {
  if (reader.blockWithProofs) return reader.blockWithProofs(number, chainTxs);
  const [block, proofs] = await Promise.all([
    reader.block({ number }),
    chainTxs.length === 0 ? [] : reader.proofs(chainTxs),
  ]);
  return { block, proofs };
}

function requireEndBlock(
  reader: ChainReader,
  { range, end, endHash }: { range: BlockRange; end: BlockRef | undefined; endHash: string | undefined },
): BlockRef {
  if (!end) throw new ProviderFailed("unknown_block", `${reader.name} lacks block ${range.toBlock}`);
  if (endHash !== undefined && endHash !== end.hash)
    throw new ProviderFailed("unknown_block", `${reader.name} replaced block ${end.number} while it was read`);
  return end;
}

function findBlockHash(number: bigint, transfers: readonly Transfer[]): string | undefined {
  return transfers.findLast(({ blockNumber }) => blockNumber === number)?.blockHash;
}

const BLOCKS_START = 100n;
const BLOCKS_MAX = 2_000n;
/** Answers of about this many logs keep both sides busy without filling the memory, when their bytes are looked through. */
export const FILTERED_LOGS_TARGET = 16_000;
/** Of so many logs values are made without keeping those who wait for an answer of ours from it. */
export const PARSED_LOGS_TARGET = 4_000;
/** After a refusal the size stays this many ranges where it was accepted: otherwise every second question would be refused. */
const GROWTH_PAUSE_RANGES = 50;
/** What a provider calls its limit stays it for long, but a contract with him may change, or another one be asked. */
const LIMIT_PAUSE_RANGES = 1_000;

/** How many blocks to ask for at once. It follows what the provider takes and what the chain's traffic makes of it. */
export class RangeSize {
  readonly #logsTarget: number;
  #blocks = BLOCKS_START;
  #pausedRanges = 0;

  constructor(logsWanted: number) {
    this.#logsTarget = logsWanted;
  }

  get blocks(): bigint {
    return this.#blocks;
  }

  /** After a range that was refused as too large: what the provider said would do, or the half. False when it cannot be any smaller. */
  shrink(suggestion?: RangeSuggestion): boolean {
    if (this.#blocks === 1n) return false;
    const half = this.#blocks / 2n;
    const said = suggestion?.blocks ?? half;
    this.#blocks = said >= 1n && said < this.#blocks ? said : half;
    this.#pausedRanges = suggestion?.isLimit === true ? LIMIT_PAUSE_RANGES : GROWTH_PAUSE_RANGES;
    return true;
  }

  /** After a failure that may come from the size, or from anything else: less is worth a try, and more again after it. */
  halve(): void {
    if (this.#blocks > 1n) this.#blocks /= 2n;
  }

  /** After a whole range of that size that held so many logs. */
  adjust({ fromBlock, toBlock }: BlockRange, scannedCount: number): void {
    if (toBlock - fromBlock + 1n < this.#blocks) return;
    if (scannedCount > 2 * this.#logsTarget && this.#blocks > 1n) this.#blocks /= 2n;
    else if (this.#pausedRanges > 0) this.#pausedRanges -= 1;
    else if (scannedCount * 2 < this.#logsTarget && this.#blocks < BLOCKS_MAX) this.#blocks *= 2n;
  }
}

/** Whether a provider said that it was asked for too much. */
export function isRangeTooLarge(error: unknown): error is ProviderFailed {
  return error instanceof ProviderFailed && error.kind === "range_too_large";
}

/** A gateway that gives up, or a proxy that cuts what is long, says no more than that: less is worth a try the next time. */
export function mayBeRangeTooLarge(error: unknown): boolean {
  return error instanceof ProviderFailed && ["timeout", "unreachable", "bad_answer"].includes(error.kind);
}
