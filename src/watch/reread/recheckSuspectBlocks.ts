import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader, type Transfer } from "../../chain/reader.ts";
import { getChainMemory, type ChainMemory, type SuspectBlock } from "../chainMemory.ts";
import { applyFoundTransfers } from "./rescan.ts";
import type { WatchWorld } from "../store/applySegment.ts";

// A node may have a block shortly before its logs, and then answers with none. The header shows that: a digest that matches a watched token
// makes an empty answer suspect. The block is recorded all the same, because a digest has false positives and later blocks must not wait. It
// is rechecked a few times, and reread when it is final.

/** Delay of each recheck after the previous answer, in milliseconds. */
const RETRY_DELAYS_MS = [50, 500, 3_000] as const;
/** Above this number the oldest are dropped; rereading covers them when they are final. */
const SUSPECT_BLOCKS_MAX = 64;
/** Blocks rechecked concurrently. */
const CONCURRENT_RECHECKS_MAX = 8;

export type BlockTransfers = { block: BlockRef; transfers: readonly Transfer[] };

/** The empty blocks whose headers indicate transfers, by the provider that reported both. */
export function findSuspectBlocks(
  reader: ChainReader,
  readings: readonly BlockTransfers[],
  tokens: readonly string[],
): BlockRef[] {
  return readings.flatMap(({ block, transfers }) =>
    transfers.length === 0 && reader.mayContainTransfers?.(block, tokens) === true ? [block] : [],
  );
}

/** Queues blocks that were recorded as empty for a recheck. */
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

/** Waits until a suspect block is due, and rechecks all that are. Returns whether suspect blocks remain. */
export async function recheckSuspectBlocks(
  world: WatchWorld,
  chain: Chain,
  signal: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  const { suspectBlocks } = getChainMemory(world, chain);
  if (suspectBlocks.size === 0) return false;
  const dueAtMs = Math.min(...[...suspectBlocks.values()].map((suspect) => suspect.dueAtMs));
  const timeoutMs = dueAtMs - world.clock.monotonicMs();
  if (timeoutMs > 0) await world.wake.wait(recheckTopic(chain), { timeoutMs, signal });
  if (signal.aborted) return false;
  const nowMs = world.clock.monotonicMs();
  const due = [...suspectBlocks.values()]
    .filter((suspect) => suspect.dueAtMs <= nowMs)
    .slice(0, CONCURRENT_RECHECKS_MAX);
  await Promise.all(due.map((suspect) => recheckBlock(world, chain, suspect)));
  return suspectBlocks.size > 0;
}

/** Reads one block again, from another provider where there is one, and records its transfers. */
async function recheckBlock(world: WatchWorld, chain: Chain, suspect: SuspectBlock): Promise<void> {
  const { suspectBlocks } = getChainMemory(world, chain);
  const { hash, number } = suspect.block;
  scheduleNextAttempt(suspectBlocks, suspect, world.clock.monotonicMs());
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
    world.log.warn(facts, "a provider returned a block without its logs; a recheck found them");
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    world.log.debug({ chain: chain.caip2, err: error }, "the recheck of a suspect block failed");
  }
}

/** After the last recheck an empty answer stands until the block is final. */
function scheduleNextAttempt(suspectBlocks: ChainMemory["suspectBlocks"], suspect: SuspectBlock, nowMs: number): void {
  suspect.attempts += 1;
  const pauseMs = RETRY_DELAYS_MS[suspect.attempts];
  if (pauseMs === undefined) suspectBlocks.delete(suspect.block.hash);
  else suspect.dueAtMs = nowMs + pauseMs;
}

/** Wakes the recheck. */
export function recheckTopic({ caip2 }: Pick<Chain, "caip2">): string {
  return `doubts:${caip2}`;
}
