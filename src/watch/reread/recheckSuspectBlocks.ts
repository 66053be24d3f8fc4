import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader, type Transfer } from "../../chain/reader.ts";
import { getChainMemory, type ChainMemory, type SuspectBlock } from "../chainMemory.ts";
import { applyFoundTransfers } from "./rescan.ts";
import type { WatchWorld } from "../store/applySegment.ts";

// A node can know a block a moment before it knows the logs in it, and answers then that there are none. The header tells: where it speaks of
// transfers of a watched token and the answer held none, the answer is doubted. The block is recorded all the same, because a header may
// speak of something else, and nobody behind it shall wait; it is asked for a few times more, and once again when it is final.

/** How long after the answer before it the block is asked for again. */
const RETRY_DELAYS_MS = [50, 500, 3_000] as const;
/** Of more the first are forgotten, and found when they are final. */
const SUSPECT_BLOCKS_MAX = 64;
/** Asked at once. */
const CONCURRENT_RECHECKS_MAX = 8;

export type BlockTransfers = { block: BlockRef; transfers: readonly Transfer[] };

/** Those of the blocks whose headers, by the word of the provider that told of both, speak of transfers that were not among the answers. */
export function findSuspectBlocks(
  reader: ChainReader,
  readings: readonly BlockTransfers[],
  tokens: readonly string[],
): BlockRef[] {
  return readings.flatMap(({ block, transfers }) =>
    transfers.length === 0 && reader.mayContainTransfers?.(block, tokens) === true ? [block] : [],
  );
}

/** Keeps blocks that have been recorded as empty, to be asked for again soon. */
export function enqueueRecheck(
  world: Pick<WatchWorld, "clock" | "wake" | "memory">,
  chain: Chain,
  blocks: readonly BlockRef[],
): void {
  if (blocks.length === 0) return;
  const { suspectBlocks } = getChainMemory(world, chain);
  const dueAtMs = world.clock.monotonicMs() + RETRY_DELAYS_MS[0];
  for (const block of blocks) suspectBlocks.set(block.hash, { block, attempts: 0, dueAtMs });
  for (const hash of suspectBlocks.keys()) {
    if (suspectBlocks.size <= SUSPECT_BLOCKS_MAX) break;
    suspectBlocks.delete(hash);
  }
  world.wake.notify(recheckTopic(chain));
}

/** Waits until one of the doubted blocks is due, and asks for those that are. True while there are more of them. */
export async function recheckSuspectBlocks(
  world: WatchWorld,
  chain: Chain,
  signal: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  const { suspectBlocks } = getChainMemory(world, chain);
  if (suspectBlocks.size === 0) return false;
  const dueAtMs = Math.min(...[...suspectBlocks.values()].map((doubt) => doubt.dueAtMs));
  const timeoutMs = dueAtMs - world.clock.monotonicMs();
  if (timeoutMs > 0) await world.wake.wait(recheckTopic(chain), { timeoutMs, signal });
  if (signal.aborted) return false;
  const nowMs = world.clock.monotonicMs();
  const due = [...suspectBlocks.values()].filter((doubt) => doubt.dueAtMs <= nowMs).slice(0, CONCURRENT_RECHECKS_MAX);
  await Promise.all(due.map((doubt) => recheckBlock(world, chain, doubt)));
  return suspectBlocks.size > 0;
}

/** Asks once more for one block, somebody else where there is somebody else, and records what is there now. */
async function recheckBlock(world: WatchWorld, chain: Chain, doubt: SuspectBlock): Promise<void> {
  const { suspectBlocks } = getChainMemory(world, chain);
  const { hash, number } = doubt.block;
  scheduleNextAttempt(suspectBlocks, doubt, world.clock.monotonicMs());
  const tokens = watchedTokens(world.catalog, chain.caip2);
  try {
    const transfers = await chain.providers.askInReverseOrder((reader) =>
      reader.transfers({ blockHash: hash }, tokens),
    );
    if (transfers.length === 0) return;
    const recorded = await applyFoundTransfers(world, chain, {
      transfers,
      isOnlyIncoming: chain.providers.providerCount > 1,
    });
    suspectBlocks.delete(hash);
    if (recorded.length === 0) return;
    const facts = { chain: chain.caip2, block: String(number), recorded: recorded.length };
    world.log.warn(facts, "a provider had called a block empty before it knew its logs, and they were asked for again");
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    world.log.debug({ chain: chain.caip2, err: error }, "a doubted block could not be asked for");
  }
}

/** The last question is not followed by another: an answer that stays empty is believed until the block is final. */
function scheduleNextAttempt(doubts: ChainMemory["suspectBlocks"], doubt: SuspectBlock, nowMs: number): void {
  doubt.attempts += 1;
  const pauseMs = RETRY_DELAYS_MS[doubt.attempts];
  if (pauseMs === undefined) doubts.delete(doubt.block.hash);
  else doubt.dueAtMs = nowMs + pauseMs;
}

/** Wakes whoever asks again. */
export function recheckTopic({ caip2 }: Pick<Chain, "caip2">): string {
  return `doubts:${caip2}`;
}
