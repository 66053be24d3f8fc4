import type { Detection } from "../../chain/chain.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import { ProviderFailed, type BlockRef, type ChainReader, type Transfer } from "../../chain/reader.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import {
  findSuspectBlocks,
  groupByBlock,
  type BlockTransfers,
  type FoundSuspect,
} from "../reread/recheckSuspectBlocks.ts";
import type { LocatedTransfer } from "../movement.ts";
import type { KnownBlock } from "../store/store.ts";

/** Blocks applied in one step near the head. */
const BATCH_MAX = 64n;
/** Blocks whose links are compared where a range is read whatever its length. */
const FOLLOWED_MAX = 16;
/** The newest known blocks, among which a common ancestor is looked for one by one: most reorgs are short. */
const ANCESTOR_PAGE_SIZE = 32;

/** One provider's view of how the cursor should move. */
export type Branch =
  /** Nothing new, or a head below the cursor: a lagging provider never moves the cursor back. */
  | { kind: "unchanged"; head: BlockRef }
  /** The blocks after `ancestor`, each the parent of the next, their located transfers, and the blocks to recheck. */
  | {
      kind: "contiguous";
      head: BlockRef;
      ancestor: KnownBlock;
      blocks: readonly BlockRef[];
      located: readonly LocatedTransfer[];
      suspects: readonly FoundSuspect[];
    }
  /** Too many blocks to read one by one. `ancestor` is canonical; after a reorg it is below the cursor. */
  | { kind: "gap"; head: BlockRef; ancestor: KnownBlock };

export type BranchQuery = {
  chain: Caip2;
  cursor: KnownBlock;
  detection: Detection;
  /** The provider's newest block, where it has just told it. */
  head?: BlockRef | undefined;
  tokens: readonly string[];
  /** Blocks this near to the head are read with their headers; deeper ones by ranges. */
  near: bigint;
  /** A deeper reorg means another chain. */
  deepestReorg: bigint;
  /** Canonical blocks in our tables at or below a number, highest first. */
  knownBlocks: (upTo: bigint, limit: number) => Promise<KnownBlock[]>;
  /** Locates the transfers of inboxes with the provider that reported them. */
  locate: (reader: ChainReader, transfers: readonly Transfer[]) => Promise<LocatedTransfer[]>;
};

/**
 * Reads the branch after the cursor. Throws ProviderFailed when the provider's blocks are inconsistent, as during a
 * reorg or behind a load balancer. Throws ChainMismatch when the provider has none of our known blocks.
 */
export async function readBranch(reader: ChainReader, query: BranchQuery): Promise<Branch> {
  const { cursor } = query;
  const head = query.head ?? (await reader.head("latest"));
  if (head.number < cursor.number || head.hash === cursor.hash) return { kind: "unchanged", head };
  const follows = head.number === cursor.number + 1n && head.parentHash === cursor.hash;
  const together = follows ? undefined : await readTogether(reader, query, head);
  if (together) return together;
  const ancestor = follows ? cursor : await findCommonAncestor(reader, query);
  const isGap = head.number - ancestor.number > query.near;
  if (isGap && query.detection === "balances") await assertFollows(reader, { ancestor, head });
  if (isGap && (query.detection === "balances" || !isShallowReorg(head, ancestor, cursor))) {
    return { kind: "gap", head, ancestor };
  }
  const isReorg = ancestor.number < cursor.number;
  const found = await readLinkedBlocks(reader, { ancestor, head, isReorg });
  const readings = await settledPrefix(
    found.map((block) => readBlockTransfers(reader, block, query.tokens)),
    isReorg,
  );
  const blocks = readings.map(({ block }) => block);
  const suspects = findSuspectBlocks(reader, readings, query.tokens);
  const transfers = readings.flatMap((reading) => reading.transfers);
  return { kind: "contiguous", head, ancestor, blocks, located: await query.locate(reader, transfers), suspects };
}

/**
 * Reads all new blocks that follow the cursor as one range: two requests, whatever the block time. Undefined where they
 * do not follow it, are many, or do not come together; they are then read one by one. A digest that says more than the
 * range gave makes its block suspect, and the recheck reads that by hash.
 */
async function readTogether(reader: ChainReader, query: BranchQuery, head: BlockRef): Promise<Branch | undefined> {
  const { cursor, tokens } = query;
  const count = head.number - cursor.number;
  if (!reader.blocksWithTransfers || count < 1n || count > query.near) return undefined;
  const toBlock = count > BATCH_MAX ? cursor.number + BATCH_MAX : head.number;
  const read = await reader.blocksWithTransfers({ fromBlock: cursor.number + 1n, toBlock }, tokens);
  if (!read || !isLinked(cursor, read.blocks) || BigInt(read.blocks.length) !== toBlock - cursor.number)
    return undefined;
  const { blocks, transfers } = read;
  const suspects = findSuspectBlocks(reader, groupByBlock(read), tokens);
  return {
    kind: "contiguous",
    head,
    ancestor: cursor,
    blocks,
    located: await query.locate(reader, transfers),
    suspects,
  };
}

function isLinked(ancestor: KnownBlock, blocks: readonly BlockRef[]): boolean {
  return blocks.every(({ parentHash }, index) => parentHash === (blocks[index - 1] ?? ancestor).hash);
}

async function readBlockTransfers(
  reader: ChainReader,
  block: BlockRef,
  tokens: readonly string[],
): Promise<BlockTransfers> {
  return { block, transfers: await reader.transfers({ blockHash: block.hash, blockNumber: block.number }, tokens) };
}

/**
 * The answers before the first failure. Throws that failure when it comes first, or when `isReorg` requires all
 * answers. Load balancers and rate limits fail some requests each time; the answers before them still advance the
 * cursor. A reorg is applied completely or not at all.
 */
async function settledPrefix<T>(requests: readonly Promise<T>[], isReorg: boolean): Promise<T[]> {
  const outcomes = await Promise.allSettled(requests);
  const answers: T[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") answers.push(outcome.value);
    else if (answers.length === 0 || isReorg || !(outcome.reason instanceof ProviderFailed)) throw outcome.reason;
    else break;
  }
  return answers;
}

/** A shallow reorg is applied in one step, so that a payment that only moved never disappears. */
function isShallowReorg(head: BlockRef, ancestor: KnownBlock, cursor: KnownBlock): boolean {
  return ancestor.number < cursor.number && head.number - ancestor.number <= BATCH_MAX;
}

/**
 * Where a range is read whatever its length, the blocks between are compared as well, while they are few: behind one
 * name, a node on another branch may have answered for the ancestor, and nothing else would show that the head does not
 * follow it.
 */
async function assertFollows(
  reader: ChainReader,
  { ancestor, head }: { ancestor: KnownBlock; head: BlockRef },
): Promise<void> {
  const count = Number(head.number - ancestor.number);
  if (count > FOLLOWED_MAX) return;
  const numbers = Array.from({ length: count - 1 }, (_, index) => ancestor.number + 1n + BigInt(index));
  const between = await Promise.all(numbers.map((number) => reader.block({ number })));
  let parent = ancestor;
  for (const block of [...between, head]) {
    if (block?.parentHash !== parent.hash)
      throw new ProviderFailed(
        "unknown_block",
        `${reader.name} has another block before ${head.number} than ${parent.hash}`,
      );
    parent = block;
  }
}

/** The highest known block that the provider's chain has too. */
async function findCommonAncestor(reader: ChainReader, query: BranchQuery): Promise<KnownBlock> {
  const recent = await query.knownBlocks(query.cursor.number, ANCESTOR_PAGE_SIZE);
  for (const block of recent) if (await hasBlock(reader, block)) return block;
  // Every block below a common one is common too.
  let shared: KnownBlock | undefined;
  let low = query.cursor.number > query.deepestReorg ? query.cursor.number - query.deepestReorg : 0n;
  let high = (recent.at(-1)?.number ?? 0n) - 1n;
  while (low <= high) {
    const middle = (low + high) / 2n;
    const [known] = await query.knownBlocks(middle, 1);
    if (known === undefined || known.number < low) low = middle + 1n;
    else if (await hasBlock(reader, known)) [shared, low] = [known, middle + 1n];
    else high = known.number - 1n;
  }
  if (shared) return shared;
  throw new ChainMismatch(
    `${reader.name} has none of the recorded blocks of ${query.chain} down to ${low}: it serves another chain, or one that was reset.`,
  );
}

async function hasBlock(reader: ChainReader, { number, hash }: KnownBlock): Promise<boolean> {
  const block = await reader.block({ number });
  if (!block) throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${number} below its head`);
  return block.hash === hash;
}

async function readLinkedBlocks(
  reader: ChainReader,
  { ancestor, head, isReorg }: { ancestor: KnownBlock; head: BlockRef; isReorg: boolean },
): Promise<BlockRef[]> {
  const last = head.number - ancestor.number > BATCH_MAX ? ancestor.number + BATCH_MAX : head.number;
  const requests: Promise<BlockRef | undefined>[] = [];
  for (let number = ancestor.number + 1n; number <= last; number += 1n)
    requests.push(number === head.number ? Promise.resolve(head) : reader.block({ number }));
  const blocks: BlockRef[] = [];
  let parent = ancestor;
  for (const block of await settledPrefix(requests, isReorg)) {
    if (block?.parentHash !== parent.hash) {
      if (blocks.length > 0 && !isReorg) break;
      throw new ProviderFailed("unknown_block", `${reader.name} does not have the block after ${parent.number}`);
    }
    blocks.push(block);
    parent = block;
  }
  return blocks;
}
