import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader } from "../../chain/reader.ts";
import { reverseRevision } from "../store/bookMovements.ts";
import { findSuspectBlocks, enqueueRecheck, type BlockTransfers } from "../reread/recheckSuspectBlocks.ts";
import { objectingProviders } from "../providers/headHold.ts";
import { getChainMemory } from "../chainMemory.ts";
import { filterInboxTransfers, type LocatedTransfer } from "../movement.ts";
import {
  afterCommit,
  inboxFilter,
  locateWithProvider,
  type ChainSegment,
  type WatchWorld,
} from "../store/applySegment.ts";
import { advanceCursor, findCursor, type KnownBlock } from "../store/store.ts";

// The short way for a block that a provider has just told of: what it holds is asked for by its hash and recorded at once.
// Everything that cannot be told from the heads alone (a gap, a reorg, what another process has recorded) is left to the look at the
// chain, which needs nobody's word that there is something new.

/** Blocks taken over in one step. */
const HEADS_MAX = 32;
/** Before a look at the chain that heads could not spare. */
const POLL_DELAY_MS = 100;
/** A node behind the same name may be told of a block a little later than the one that told us. */
const RETRY_MS = [20, 40, 80, 160] as const;

/**
 * `recorded`: the heads follow on what was recorded last, and are recorded now. `passed`: they were before. `unfit`: they do not follow, or
 * cannot be read, and the chain is to be looked at as if nobody had told of anything.
 */
export type HeadsOutcome = "recorded" | "passed" | "unfit";

/** Takes over what providers have told of, in the order in which it was told. Safe in any number of processes. */
export async function followHeads(world: WatchWorld, chain: Chain, heads: readonly BlockRef[]): Promise<HeadsOutcome> {
  const memory = getChainMemory(world, chain);
  const from = memory.cursor;
  if (from === undefined || objectingProviders(memory).length > 0) return "unfit";
  const { blocks, isComplete } = contiguousHeads(from, heads);
  const to = blocks.at(-1);
  if (to === undefined) return isComplete ? "passed" : "unfit";
  const found = await readHeads(world, chain, blocks);
  if (found === undefined) return "unfit";
  const stretch = { from, ancestorNumber: from.number, to, blocks, located: found.located };
  if (!(await applyPushedHeads(world, chain, stretch))) {
    await reloadCursor(world, chain);
    return "unfit";
  }
  enqueueRecheck(world, chain, found.suspects);
  if (memory.cursor === from) memory.cursor = to;
  memory.lastBlockAtMs = world.clock.monotonicMs();
  memory.isFinalityDue = true;
  return isComplete ? "recorded" : "unfit";
}

/**
 * Records blocks without keeping the books, which say up to which block they are kept: the next look at the chain keeps them. What was
 * booked already of a transaction that has moved to another block is reversed at once.
 */
async function applyPushedHeads(world: WatchWorld, chain: Chain, segment: ChainSegment): Promise<boolean> {
  const at = world.clock.now();
  const advance = { chain: chain.caip2, ...segment, at };
  // A block that holds nothing of ours, as nearly every one does, is a single statement.
  const recorded =
    segment.located.length === 0
      ? (await advanceCursor(world.db.root, advance)) && { reversedCount: 0, writtenCount: 0 }
      : await world.db.transaction(async (tx) => {
          const reach = await advanceCursor(tx, advance);
          const hasChangedMovement = reach?.hasChangedMovement === true;
          const reversedCount = hasChangedMovement
            ? await reverseRevision(tx, { chain: chain.caip2, revision: reach.revision, at })
            : 0;
          return reach && { reversedCount, writtenCount: reach.writtenCount };
        });
  if (recorded === undefined) return false;
  await afterCommit(world, chain, { ...recorded, located: segment.located });
  return true;
}

/** Reads where the cursor stands, so that the next head is compared with what is there. */
async function reloadCursor(world: WatchWorld, chain: Chain): Promise<void> {
  const memory = getChainMemory(world, chain);
  const before = memory.cursor;
  const cursor = await findCursor(world.db, chain.caip2);
  if (memory.cursor === before) memory.cursor = cursor;
}

/** Those that hang on the cursor, each the parent of the next. `isWhole`: nothing else was told but what we have passed already. */
export function contiguousHeads(
  cursor: KnownBlock,
  heads: readonly BlockRef[],
): { blocks: readonly BlockRef[]; isComplete: boolean } {
  const blocks: BlockRef[] = [];
  let tip = cursor;
  for (const head of heads) {
    if (head.number < tip.number || head.hash === tip.hash) continue;
    if (head.number !== tip.number + 1n || head.parentHash !== tip.hash || blocks.length === HEADS_MAX)
      return { blocks, isComplete: false };
    blocks.push(head);
    tip = head;
  }
  return { blocks, isComplete: true };
}

/** What concerns us, and which blocks are to be asked for again. */
type HeadsReading = { located: readonly LocatedTransfer[]; suspects: readonly BlockRef[] };

/** What of the blocks concerns us, by the word of one provider who knows them as they were told; undefined when none does. */
async function readHeads(
  world: WatchWorld,
  chain: Chain,
  blocks: readonly BlockRef[],
): Promise<HeadsReading | undefined> {
  for (const retryMs of [...RETRY_MS, undefined]) {
    try {
      return await chain.providers.ask((reader) => readHeadsWithProvider(world, reader, blocks));
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      world.log.debug({ chain: chain.caip2, err: error }, "a block that was told of is not there yet");
      if (error.kind !== "unknown_block" || retryMs === undefined) return undefined;
      await world.clock.sleep(retryMs);
    }
  }
  return undefined;
}

async function readHeadsWithProvider(
  world: WatchWorld,
  reader: ChainReader,
  blocks: readonly BlockRef[],
): Promise<HeadsReading> {
  const tokens = watchedTokens(world.catalog, reader.caip2);
  const known = inboxFilter(world, reader.caip2);
  // Anybody can invent many heads at once: only those who hang on one that is known cost more than a question.
  const [first, ...others] = blocks;
  if (first && others.length > 0) await assertSameHeader(reader, first);
  // The blocks were mined before they were told of, and an address is only ever paid after its intent was committed: to bring the memory
  // up to date meanwhile is late enough.
  const [readings] = await Promise.all([
    Promise.all(blocks.map((block) => readHead(reader, block, tokens))),
    known.refresh(),
  ]);
  const transfers = readings.flatMap((reading) => reading.transfers);
  const candidates = filterInboxTransfers(transfers, (address) => known.has(address));
  return {
    located: await locateWithProvider(reader, candidates),
    suspects: findSuspectBlocks(reader, readings, tokens),
  };
}

/** The header is whatever somebody pushed: he who tells what the block holds must know it by the same number and parent. */
async function readHead(reader: ChainReader, head: BlockRef, tokens: readonly string[]): Promise<BlockTransfers> {
  const [block, transfers] = await Promise.all([
    assertSameHeader(reader, head),
    reader.transfers({ blockHash: head.hash }, tokens),
  ]);
  return { block, transfers };
}

async function assertSameHeader(reader: ChainReader, head: BlockRef): Promise<BlockRef> {
  const block = await reader.block({ hash: head.hash });
  if (block?.number !== head.number || block.parentHash !== head.parentHash)
    throw new ProviderFailed("unknown_block", `${reader.name} does not know block ${head.number} as it was told of`);
  return block;
}

/** Keeps a head until it is looked at. Of too many the first are forgotten: the others no longer follow then, and the chain is asked. */
export function enqueueHead(world: Pick<WatchWorld, "clock" | "wake" | "memory">, chain: Chain, head: BlockRef): void {
  const { pushedHeads } = getChainMemory(world, chain);
  if (pushedHeads.push(head) > HEADS_MAX) pushedHeads.shift();
  world.wake.notify(headsTopic(chain));
}

/** Follows all heads that were noted since the last time. */
export async function followQueuedHeads(world: WatchWorld, chain: Chain): Promise<void> {
  const heads = getChainMemory(world, chain).pushedHeads.splice(0);
  if (heads.length === 0) return;
  let outcome: HeadsOutcome = "unfit";
  try {
    outcome = await followHeads(world, chain, heads);
  } finally {
    // How final it all is, and what the heads did not tell, is the business of the look at the chain, which then has nothing new to record.
    // A feed that tells of what is nowhere makes us look no more than a few times a second.
    if (outcome === "unfit") await world.clock.sleep(POLL_DELAY_MS);
    if (outcome !== "passed") world.wake.notify(watchTopic(chain));
  }
}

/** Wakes whoever follows heads. */
export function headsTopic({ caip2 }: Pick<Chain, "caip2">): string {
  return `heads:${caip2}`;
}

/** Wakes whoever looks at the chain. */
export function watchTopic({ caip2 }: Pick<Chain, "caip2">): string {
  return `watch:${caip2}`;
}
