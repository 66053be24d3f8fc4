import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed, type BlockRef, type ChainReader } from "../../chain/reader.ts";
import {
  findSuspectBlocks,
  enqueueRecheck,
  groupByBlock,
  type BlockTransfers,
  type FoundSuspect,
} from "../reread/recheckSuspectBlocks.ts";
import { comparedProviders, disagreeingProviders } from "../providers/headHold.ts";
import { filterInboxTransfers, type LocatedTransfer } from "../movement.ts";
import { postponeDust } from "../postponed/postponeDust.ts";
import { recordMovements } from "../record/recordMovements.ts";
import { inboxFilter, locateWithProvider } from "../inboxes/locateTransfers.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { headsTopic, viewing, watchTopic } from "../wakes.ts";
import { followedChain } from "./followedChain.ts";
import { findCursor, type KnownBlock } from "../store/store.ts";

// The fast path for a block that a provider pushed: its transfers are read by hash and recorded at once. The next poll
// covers everything else (a gap, a reorg, blocks from another process), so it needs no pushed heads.

/** Blocks applied in one step. */
const HEADS_MAX = 32;
/** Pushed heads are followed, and then wake a poll, no more often than this, whatever the block time. */
const FOLLOW_MS = 400;
const POLL_AFTER_MS = 1_000;
/** Pause before a poll that pushed heads did not prevent. */
const POLL_DELAY_MS = 100;
/** A node behind the same name may receive the block a little later than the one that pushed it. */
const RETRY_MS = [20, 40, 80, 160] as const;

/** Pushed heads that are not processed yet, and when they were last followed and woke the poll, on the monotonic clock. */
const pushedHeads = perChain(() => ({ heads: Array<BlockRef>(), followedAtMs: -Infinity, wokeAtMs: -Infinity }));

/**
 * `recorded`: the heads follow the cursor and are recorded now. `stale`: they were recorded before. `discontinuous`: they do
 * not follow or cannot be read, and the next poll reads the chain.
 */
export type HeadsOutcome = "recorded" | "stale" | "discontinuous";

/** Records pushed heads in the order of their arrival. Safe in any number of processes. */
export async function followHeads(world: WatchWorld, chain: Chain, heads: readonly BlockRef[]): Promise<HeadsOutcome> {
  const followed = followedChain(world, chain);
  const from = followed.cursor;
  if (from === undefined || disagreeingProviders(comparedProviders(world, chain)).length > 0) return "discontinuous";
  const { blocks, isComplete } = contiguousHeads(from, heads);
  const to = blocks.at(-1);
  if (to === undefined) return isComplete ? "stale" : "discontinuous";
  const found = await readHeads(world, chain, blocks);
  if (found === undefined) return "discontinuous";
  const segment = { from, ancestorNumber: from.number, to, blocks, located: found.located };
  if (!(await recordMovements(world, chain, { kind: "pushed", ...segment }))) {
    await reloadCursor(world, chain);
    return "discontinuous";
  }
  enqueueRecheck(world, chain, found.suspects);
  if (followed.cursor === from) followed.cursor = to;
  followed.lastBlockAtMs = world.clock.monotonicMs();
  followed.isBookingDue = true;
  return isComplete ? "recorded" : "discontinuous";
}

/** Reads the cursor again, so that the next head is compared with its current position. */
async function reloadCursor(world: WatchWorld, chain: Chain): Promise<void> {
  const followed = followedChain(world, chain);
  const before = followed.cursor;
  const cursor = await findCursor(world.db, chain.caip2);
  if (followed.cursor === before) followed.cursor = cursor;
}

/** The heads that follow the cursor, each the parent of the next. `isComplete`: every other head was passed already. */
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

/** The located transfers, and the blocks to recheck. */
type HeadsReading = { located: readonly LocatedTransfer[]; suspects: readonly FoundSuspect[] };

/** Reads the blocks with one provider that has them as pushed; undefined when none does. */
async function readHeads(
  world: WatchWorld,
  chain: Chain,
  blocks: readonly BlockRef[],
): Promise<HeadsReading | undefined> {
  for (const retryMs of [...RETRY_MS, undefined]) {
    try {
      return await chain.providers.run((reader) => readHeadsWithProvider(world, reader, blocks));
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      world.log.debug({ chain: chain.caip2, err: error }, "a pushed block is not available yet");
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
  // Payers see an address only after its intent commits, and the blocks were mined before that push. A refresh during
  // the read is therefore late enough.
  const [readings] = await Promise.all([readBlocks(reader, blocks, tokens), known.refresh()]);
  const transfers = readings.flatMap((reading) => reading.transfers);
  const candidates = filterInboxTransfers(transfers, (address) => known.has(address));
  return {
    located: await locateWithProvider(world, reader, await postponeDust(world, reader, candidates)),
    suspects: findSuspectBlocks(reader, readings, tokens),
  };
}

/** Several heads are read as one range, with one request where the provider can. */
async function readBlocks(
  reader: ChainReader,
  heads: readonly BlockRef[],
  tokens: readonly string[],
): Promise<BlockTransfers[]> {
  const [first, last] = [heads[0], heads.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = { fromBlock: first.number, toBlock: last.number };
  const read = first === last ? undefined : await reader.blocksWithTransfers?.(range, tokens);
  if (read) {
    for (const [index, head] of heads.entries()) assertSame(reader, head, read.blocks[index]);
    return groupByBlock(read);
  }
  // A feed can invent many heads. The first one must be known before the others cost requests.
  if (first !== last) await assertSameHeader(reader, first);
  return Promise.all(heads.map((head) => readHead(reader, head, tokens)));
}

/**
 * A pushed header is unverified: the provider that reports the transfers must have it with the same number and parent.
 */
async function readHead(reader: ChainReader, head: BlockRef, tokens: readonly string[]): Promise<BlockTransfers> {
  const [block, transfers] = await Promise.all([
    assertSameHeader(reader, head),
    reader.transfers({ blockHash: head.hash, blockNumber: head.number }, tokens),
  ]);
  return { block, transfers };
}

async function assertSameHeader(reader: ChainReader, head: BlockRef): Promise<BlockRef> {
  return assertSame(reader, head, await reader.block({ hash: head.hash }));
}

function assertSame(reader: ChainReader, head: BlockRef, block: BlockRef | undefined): BlockRef {
  if (block?.number !== head.number || block.hash !== head.hash || block.parentHash !== head.parentHash)
    throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${head.number} as pushed`);
  return block;
}

/**
 * Queues a head. When the queue is full the oldest head is dropped; the others then do not follow, and a poll reads the
 * chain.
 */
export function enqueueHead(world: Pick<WatchWorld, "clock" | "wake" | "memory">, chain: Chain, head: BlockRef): void {
  const { heads } = pushedHeads(world, chain);
  if (chain.detection === "balances") {
    // A block of its own shows no deposit. Polls are quick enough where nobody waits.
    if (viewing(world, chain).isViewed) world.wake.notify(watchTopic(chain));
    return;
  }
  if (heads.push(head) > HEADS_MAX) heads.shift();
  world.wake.notify(headsTopic(chain));
}

/**
 * Follows all queued heads. Those that are pushed within a short time go together, so that short blocks cost no more
 * requests.
 */
export async function followQueuedHeads(world: WatchWorld, chain: Chain): Promise<void> {
  const pushed = pushedHeads(world, chain);
  if (pushed.heads.length === 0) return;
  const sinceMs = world.clock.monotonicMs() - pushed.followedAtMs;
  if (sinceMs < FOLLOW_MS) await world.clock.sleep(FOLLOW_MS - sinceMs);
  pushed.followedAtMs = world.clock.monotonicMs();
  const heads = pushed.heads.splice(0);
  let outcome: HeadsOutcome = "discontinuous";
  try {
    outcome = await followHeads(world, chain, heads);
  } finally {
    // The poll handles finality and everything that the heads lack. The delay limits the polls that a feed with false
    // heads can cause to a few per second.
    if (outcome === "discontinuous") await world.clock.sleep(POLL_DELAY_MS);
    const nowMs = world.clock.monotonicMs();
    const isPollDue =
      outcome === "discontinuous" || (outcome === "recorded" && nowMs - pushed.wokeAtMs >= POLL_AFTER_MS);
    if (isPollDue) {
      pushed.wokeAtMs = nowMs;
      world.wake.notify(watchTopic(chain));
    }
  }
}
