import { watchedTokens } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainDriver } from "../chain/driver.ts";
import { memoryOf } from "./memory.ts";
import { pickSightings, recordStretch, type WatchWorld } from "./record.ts";
import { findCursor, type KnownBlock } from "./store.ts";

// The short way for a block that a provider has just told of: what it holds is asked for by its hash at once and recorded in one transaction.
// Everything that cannot be told from the heads alone (a gap, a reorg, what another process has recorded) is left to the look at the
// chain, which needs nobody's word that there is something new.

/** Blocks taken over in one step. */
const HEADS_MAX = 32;
/** A node behind the same name may be told of a block a little later than the one that told us. */
const RETRY_MS = [20, 40, 80, 160] as const;

/**
 * `recorded`: the heads follow on what was recorded last, and are recorded now. `passed`: they were before. `unfit`: they do not follow, or
 * cannot be read, and the chain is to be looked at as if nobody had told of anything.
 */
export type HeadsOutcome = "recorded" | "passed" | "unfit";

/** Takes over what providers have told of, in the order in which it was told. Safe in any number of processes. */
export async function followHeads(world: WatchWorld, chain: Chain, heads: readonly BlockRef[]): Promise<HeadsOutcome> {
  const memory = memoryOf(chain, world.clock);
  const from = memory.cursor;
  if (from === undefined) return "unfit";
  const { blocks, isWhole } = linkedTo(from, heads);
  const to = blocks.at(-1);
  if (to === undefined) return isWhole ? "passed" : "unfit";
  const sightings = await readHeads(world, chain, blocks);
  if (sightings === undefined) return "unfit";
  const stretch = { from, ancestorNumber: from.number, to, blocks, sightings };
  if (!(await recordStretch(world, chain, stretch))) {
    await recallCursor(world, chain);
    return "unfit";
  }
  if (memory.cursor === from) memory.cursor = to;
  memory.lastNewsAtMs = world.clock.monotonicMs();
  memory.isFinalityDue = true;
  return isWhole ? "recorded" : "unfit";
}

/** Reads where the cursor stands, so that the next head is compared with what is there. */
async function recallCursor(world: WatchWorld, chain: Chain): Promise<void> {
  const memory = memoryOf(chain, world.clock);
  const before = memory.cursor;
  const cursor = await findCursor(world.db, chain.caip2);
  if (memory.cursor === before) memory.cursor = cursor;
}

/** Those that hang on the cursor, each the parent of the next. `isWhole`: nothing else was told but what we have passed already. */
export function linkedTo(
  cursor: KnownBlock,
  heads: readonly BlockRef[],
): { blocks: readonly BlockRef[]; isWhole: boolean } {
  const blocks: BlockRef[] = [];
  let tip = cursor;
  for (const head of heads) {
    if (head.number < tip.number || head.hash === tip.hash) continue;
    if (head.number !== tip.number + 1n || head.parentHash !== tip.hash || blocks.length === HEADS_MAX)
      return { blocks, isWhole: false };
    blocks.push(head);
    tip = head;
  }
  return { blocks, isWhole: true };
}

/** What of the blocks concerns us, by the word of one provider who knows them as they were told; undefined when none does. */
async function readHeads(world: WatchWorld, chain: Chain, blocks: readonly BlockRef[]) {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const read = async (driver: ChainDriver) => {
    const transfers = await Promise.all(blocks.map((block) => readHead(driver, block, tokens)));
    return pickSightings(world, driver, transfers.flat());
  };
  for (const retryMs of [...RETRY_MS, undefined]) {
    try {
      return await chain.providers.ask(read);
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      world.log.debug({ chain: chain.caip2, err: error }, "a block that was told of is not there yet");
      if (error.kind !== "unknown_block" || retryMs === undefined) return undefined;
      await world.clock.sleep(retryMs);
    }
  }
  return undefined;
}

/** The header is whatever somebody pushed: he who tells what the block holds must know it by the same number and parent. */
async function readHead(driver: ChainDriver, head: BlockRef, tokens: readonly string[]) {
  const [block, transfers] = await Promise.all([
    driver.block({ hash: head.hash }),
    driver.transfers({ blockHash: head.hash }, tokens),
  ]);
  if (block?.number !== head.number || block.parentHash !== head.parentHash)
    throw new ProviderFailed("unknown_block", `${driver.name} does not know block ${head.number} as it was told of`);
  return transfers;
}

/** Keeps a head until it is looked at. Of too many the first are forgotten: the others no longer follow then, and the chain is asked. */
export function noteHead(world: Pick<WatchWorld, "clock" | "wake">, chain: Chain, head: BlockRef): void {
  const { heads } = memoryOf(chain, world.clock);
  if (heads.push(head) > HEADS_MAX) heads.shift();
  world.wake.notify(headsTopic(chain));
}

/** Follows all heads that were noted since the last time. */
export async function followNotedHeads(world: WatchWorld, chain: Chain): Promise<void> {
  const heads = memoryOf(chain, world.clock).heads.splice(0);
  if (heads.length === 0) return;
  let outcome: HeadsOutcome = "unfit";
  try {
    outcome = await followHeads(world, chain, heads);
  } finally {
    // How final it all is, and what the heads did not tell, is the business of the look at the chain, which then has nothing new to record.
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
