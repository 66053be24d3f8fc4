import {
  ProviderFailed,
  type BlockRange,
  type BlockRef,
  type ChainReader,
  type TransactionProof,
  type FilteredTransfers,
  type Transfer,
} from "../../chain/reader.ts";
import type { InboxFilter } from "../inboxes/locateTransfers.ts";
import {
  filterInboxTransfers,
  assignIdentities,
  chainTxsToProve,
  type InboxTransfer,
  type LocatedTransfer,
} from "../movement.ts";

/** A longer range may have an answer of a hundred megabytes. */
const TOGETHER_MAX = 100n;

export type RangeTransfers = { range: BlockRange; end: BlockRef; transfers: readonly Transfer[] };

/**
 * Reads a range and its end block. Nodes answer a range beyond their head with an empty list. So the answering provider
 * must have the end block, with the hash that its logs name.
 */
export async function readRange(
  reader: ChainReader,
  range: BlockRange,
  tokens: readonly string[],
): Promise<RangeTransfers> {
  const together = await readTogether(reader, range, tokens);
  if (together) return together;
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

/** In one request, where the range is short enough for an answer within a batch. */
async function readTogether(
  reader: ChainReader,
  range: BlockRange,
  tokens: readonly string[],
): Promise<RangeTransfers | undefined> {
  if (!reader.blocksWithTransfers || range.toBlock - range.fromBlock >= TOGETHER_MAX) return undefined;
  const read = await reader.blocksWithTransfers({ ...range, isEndOnly: true }, tokens);
  const end = read?.blocks.at(-1);
  return read && end && { range, end, transfers: read.transfers };
}

export type FilteredRange = {
  range: BlockRange;
  end: BlockRef;
  located: readonly LocatedTransfer[];
  scannedCount: number;
};

/** Reads a range's transfers of known inboxes in two requests: the logs, then the end block and the proofs. */
export async function readFilteredRange(
  reader: ChainReader,
  range: BlockRange,
  { tokens, known }: { tokens: readonly string[]; known: InboxFilter },
): Promise<FilteredRange> {
  const { transfers, scannedCount, lastBlockHash } = await filterTransfers(reader, range, { tokens, known });
  const candidates = filterInboxTransfers(transfers, (address) => known.has(address));
  // The proofs confirm the blocks of the other candidates.
  const unproven = candidates.filter(({ identity }) => identity !== undefined);
  const numbers = [...new Set([range.toBlock, ...unproven.map(({ blockNumber }) => blockNumber)])];
  const { blocks, proofs } = await blocksWithProofs(reader, numbers, chainTxsToProve(candidates, reader.mintSender));
  const end = requireEndBlock(reader, { range, end: blocks[0], endHash: lastBlockHash });
  assertBlocksMatch(reader, unproven, blocks);
  return { range, end, located: assignIdentities(candidates, proofs, reader.mintSender), scannedCount };
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

async function blocksWithProofs(
  reader: ChainReader,
  numbers: readonly bigint[],
  chainTxs: readonly string[],
): Promise<{ blocks: readonly (BlockRef | undefined)[]; proofs: readonly TransactionProof[] }> {
  if (reader.blocksWithProofs) return reader.blocksWithProofs(numbers, chainTxs);
  const [blocks, proofs] = await Promise.all([
    Promise.all(numbers.map((number) => reader.block({ number }))),
    chainTxs.length === 0 ? [] : reader.proofs(chainTxs),
  ]);
  return { blocks, proofs };
}

/** Throws unless the provider's block at the number of each transfer has the transfer's hash. */
function assertBlocksMatch(
  reader: ChainReader,
  transfers: readonly InboxTransfer[],
  blocks: readonly (BlockRef | undefined)[],
): void {
  const hashOf = new Map(blocks.flatMap((block) => (block ? [[block.number, block.hash]] : [])));
  for (const { chainTx, blockNumber, blockHash } of transfers)
    if (hashOf.get(blockNumber) !== blockHash)
      throw new ProviderFailed(
        "unknown_block",
        `${reader.name} has another block ${blockNumber} than that of ${chainTx}`,
      );
}

function requireEndBlock(
  reader: ChainReader,
  { range, end, endHash }: { range: BlockRange; end: BlockRef | undefined; endHash: string | undefined },
): BlockRef {
  if (!end) throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${range.toBlock}`);
  if (endHash !== undefined && endHash !== end.hash)
    throw new ProviderFailed("unknown_block", `${reader.name} replaced block ${end.number} while it was read`);
  return end;
}

function findBlockHash(number: bigint, transfers: readonly Transfer[]): string | undefined {
  return transfers.findLast(({ blockNumber }) => blockNumber === number)?.blockHash;
}
