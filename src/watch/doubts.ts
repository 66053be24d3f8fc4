import { watchedTokens } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainDriver, type Transfer } from "../chain/driver.ts";
import { memoryOf, type ChainMemory, type Doubt } from "./memory.ts";
import { recordAgain } from "./rescan.ts";
import type { WatchWorld } from "./record.ts";

// A node can know a block a moment before it knows the logs in it, and answers then that there are none. The header tells: where it speaks of
// transfers of a watched token and the answer held none, the answer is doubted. The block is recorded all the same, because a header may
// speak of something else, and nobody behind it shall wait; it is asked for a few times more, and once again when it is final.

/** How long after the answer before it the block is asked for again. */
const PAUSES_MS = [50, 500, 3_000] as const;
/** Of more the first are forgotten, and found when they are final. */
const DOUBTS_MAX = 64;
/** Asked at once. */
const ASKED_MAX = 8;

export type BlockReading = { block: BlockRef; transfers: readonly Transfer[] };

/** Those of the blocks whose headers, by the word of the provider that told of both, speak of transfers that were not among the answers. */
export function doubtfulOf(
  driver: ChainDriver,
  readings: readonly BlockReading[],
  tokens: readonly string[],
): BlockRef[] {
  return readings.flatMap(({ block, transfers }) =>
    transfers.length === 0 && driver.mayHold?.(block, tokens) === true ? [block] : [],
  );
}

/** Keeps blocks that have been recorded as empty, to be asked for again soon. */
export function noteDoubts(world: Pick<WatchWorld, "clock" | "wake">, chain: Chain, blocks: readonly BlockRef[]): void {
  if (blocks.length === 0) return;
  const { doubts } = memoryOf(chain, world.clock);
  const dueAtMs = world.clock.monotonicMs() + PAUSES_MS[0];
  for (const block of blocks) doubts.set(block.hash, { block, asked: 0, dueAtMs });
  for (const hash of doubts.keys()) {
    if (doubts.size <= DOUBTS_MAX) break;
    doubts.delete(hash);
  }
  world.wake.notify(doubtsTopic(chain));
}

/** Waits until one of the doubted blocks is due, and asks for those that are. True while there are more of them. */
export async function askDoubts(
  world: WatchWorld,
  chain: Chain,
  ending: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  const { doubts } = memoryOf(chain, world.clock);
  if (doubts.size === 0) return false;
  const dueAtMs = Math.min(...[...doubts.values()].map((doubt) => doubt.dueAtMs));
  const timeoutMs = dueAtMs - world.clock.monotonicMs();
  if (timeoutMs > 0) await world.wake.wait(doubtsTopic(chain), { timeoutMs, signal: ending });
  if (ending.aborted) return false;
  const nowMs = world.clock.monotonicMs();
  const due = [...doubts.values()].filter((doubt) => doubt.dueAtMs <= nowMs).slice(0, ASKED_MAX);
  await Promise.all(due.map((doubt) => askAgain(world, chain, doubt)));
  return doubts.size > 0;
}

/** Asks once more for one block, somebody else where there is somebody else, and records what is there now. */
async function askAgain(world: WatchWorld, chain: Chain, doubt: Doubt): Promise<void> {
  const { doubts } = memoryOf(chain, world.clock);
  const { hash, number } = doubt.block;
  postpone(doubts, doubt, world.clock.monotonicMs());
  const tokens = watchedTokens(world.catalog, chain.caip2);
  try {
    const transfers = await chain.providers.askAnother((driver) => driver.transfers({ blockHash: hash }, tokens));
    if (transfers.length === 0) return;
    const recorded = await recordAgain(world, chain, { transfers, isOnlyIncoming: chain.providers.size > 1 });
    doubts.delete(hash);
    if (recorded.length === 0) return;
    const facts = { chain: chain.caip2, block: String(number), recorded: recorded.length };
    world.log.warn(facts, "a provider had called a block empty before it knew its logs, and they were asked for again");
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    world.log.debug({ chain: chain.caip2, err: error }, "a doubted block could not be asked for");
  }
}

/** The last question is not followed by another: an answer that stays empty is believed until the block is final. */
function postpone(doubts: ChainMemory["doubts"], doubt: Doubt, nowMs: number): void {
  doubt.asked += 1;
  const pauseMs = PAUSES_MS[doubt.asked];
  if (pauseMs === undefined) doubts.delete(doubt.block.hash);
  else doubt.dueAtMs = nowMs + pauseMs;
}

/** Wakes whoever asks again. */
export function doubtsTopic({ caip2 }: Pick<Chain, "caip2">): string {
  return `doubts:${caip2}`;
}
