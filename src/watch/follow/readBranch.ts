import { ChainMismatch } from "../../chain/providers.ts";
import { ProviderFailed, type BlockRef, type ChainReader, type Transfer } from "../../chain/reader.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { findSuspectBlocks, type BlockTransfers } from "../reread/recheckSuspectBlocks.ts";
import type { LocatedTransfer } from "../movement.ts";
import type { KnownBlock } from "../store/store.ts";

/** So near to the head blocks are read one by one, by their hash; what lies deeper is read by ranges. */
export const NEAR_BLOCKS = 32n;
/** Blocks taken over in one step near the head. */
const BATCH_BLOCKS_MAX = 64n;
/** A reorg that is deeper than this is no reorg but another chain. As many known blocks are kept. */
export const REORG_BLOCKS_MAX = 512;
/** Known blocks compared with the chain before more are asked of the database. */
const ANCESTOR_PAGE_SIZE = 32;

/** What one provider says has to happen to a cursor. */
export type Branch =
  /** Nothing new, or a head that we have passed: a provider that lags never moves the cursor back. */
  | { kind: "still"; head: BlockRef }
  /** The blocks that follow on `ancestor`, each the parent of the next, what in them concerns us, and which are to be asked for again. */
  | {
      kind: "near";
      head: BlockRef;
      ancestor: KnownBlock;
      blocks: readonly BlockRef[];
      located: readonly LocatedTransfer[];
      suspects: readonly BlockRef[];
    }
  /** Too much to read block by block. `ancestor` is canonical; it lies below the cursor after a reorg. */
  | { kind: "far"; head: BlockRef; ancestor: KnownBlock };

export type BranchQuery = {
  chain: Caip2;
  cursor: KnownBlock;
  tokens: readonly string[];
  /** Canonical blocks by our own table, at or below a number, the highest first. */
  knownBlocks: (upTo: bigint, limit: number) => Promise<KnownBlock[]>;
  /** What of a block's transfers concerns us, by the word of the provider that told of them. */
  locate: (reader: ChainReader, transfers: readonly Transfer[]) => Promise<LocatedTransfer[]>;
};

/**
 * Reads what follows on the cursor. Throws ProviderFailed when the provider's blocks do not hang together (it is just changing its
 * mind, or is several nodes), and ChainMismatch when nothing that we know is on its chain any more.
 */
export async function readBranch(reader: ChainReader, question: BranchQuery): Promise<Branch> {
  const { cursor } = question;
  const head = await reader.head("latest");
  if (head.number < cursor.number || head.hash === cursor.hash) return { kind: "still", head };
  const follows = head.number === cursor.number + 1n && head.parentHash === cursor.hash;
  const ancestor = follows ? cursor : await findCommonAncestor(reader, question);
  if (head.number - ancestor.number > NEAR_BLOCKS && !isShallowReorg(head, ancestor, cursor)) {
    return { kind: "far", head, ancestor };
  }
  const isReorg = ancestor.number < cursor.number;
  const found = await readLinkedBlocks(reader, { ancestor, head, isReorg });
  const readings = await settledPrefix(
    found.map((block) => readBlockTransfers(reader, block, question.tokens)),
    isReorg,
  );
  const blocks = readings.map(({ block }) => block);
  const suspects = findSuspectBlocks(reader, readings, question.tokens);
  const transfers = readings.flatMap((reading) => reading.transfers);
  return { kind: "near", head, ancestor, blocks, located: await question.locate(reader, transfers), suspects };
}

async function readBlockTransfers(
  reader: ChainReader,
  block: BlockRef,
  tokens: readonly string[],
): Promise<BlockTransfers> {
  return { block, transfers: await reader.transfers({ blockHash: block.hash }, tokens) };
}

/**
 * What was answered up to the first question that failed; throws that failure when it is the first of all, or when only all will do. Several
 * nodes behind one name, or a limit on calls, let some of many questions fail each time, and what came before them is a step forward. What
 * was replaced is taken over at once or not at all.
 */
async function settledPrefix<T>(questions: readonly Promise<T>[], isReorg: boolean): Promise<T[]> {
  const outcomes = await Promise.allSettled(questions);
  const answers: T[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") answers.push(outcome.value);
    else if (answers.length === 0 || isReorg || !(outcome.reason instanceof ProviderFailed)) throw outcome.reason;
    else break;
  }
  return answers;
}

/** A replaced stretch is taken over in one step where it fits, so that nobody sees a payment vanish that only moved. */
function isShallowReorg(head: BlockRef, ancestor: KnownBlock, cursor: KnownBlock): boolean {
  return ancestor.number < cursor.number && head.number - ancestor.number <= BATCH_BLOCKS_MAX;
}

/** The highest of our blocks that the provider's chain has too. */
async function findCommonAncestor(reader: ChainReader, question: BranchQuery): Promise<KnownBlock> {
  let upTo = question.cursor.number;
  for (let compared = 0; compared < REORG_BLOCKS_MAX; compared += ANCESTOR_PAGE_SIZE) {
    const known = await question.knownBlocks(upTo, ANCESTOR_PAGE_SIZE);
    for (const block of known) {
      const canonical = await reader.block({ number: block.number });
      if (!canonical)
        throw new ProviderFailed("unknown_block", `${reader.name} lacks block ${block.number} below its head`);
      if (canonical.hash === block.hash) return block;
    }
    const lowest = known.at(-1);
    if (!lowest) break;
    upTo = lowest.number - 1n;
  }
  throw new ChainMismatch(
    `${reader.name} shares none of the last blocks that were read of ${question.chain} down to ${upTo + 1n}: it serves another chain, or one that was reset.`,
  );
}

async function readLinkedBlocks(
  reader: ChainReader,
  { ancestor, head, isReorg }: { ancestor: KnownBlock; head: BlockRef; isReorg: boolean },
): Promise<BlockRef[]> {
  const last = head.number - ancestor.number > BATCH_BLOCKS_MAX ? ancestor.number + BATCH_BLOCKS_MAX : head.number;
  const questions: Promise<BlockRef | undefined>[] = [];
  for (let number = ancestor.number + 1n; number <= last; number += 1n)
    questions.push(number === head.number ? Promise.resolve(head) : reader.block({ number }));
  const blocks: BlockRef[] = [];
  let parent = ancestor;
  for (const block of await settledPrefix(questions, isReorg)) {
    if (block?.parentHash !== parent.hash) {
      if (blocks.length > 0 && !isReorg) break;
      throw new ProviderFailed("unknown_block", `${reader.name} shows no block that follows on ${parent.number}`);
    }
    blocks.push(block);
    parent = block;
  }
  return blocks;
}
