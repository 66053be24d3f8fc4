import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { ToldHeads } from "../../chain/providers.ts";
import { ProviderFailed, type BlockRef } from "../../chain/reader.ts";
import { bookMovements } from "../store/bookMovements.ts";
import { wakeBlockConsumers } from "../wakes.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { hasMovementAbove, listKnownBlocks } from "../store/chainReads.ts";
import { storeFinality, type CursorRow, type KnownBlock } from "../store/store.ts";
import { highestOf, lowestOf } from "../../kernel/extremes.ts";

/** How often the chain's own finality is read while nothing waits for it. */
const IDLE_MS = 5_000;

/** When the chain's own finality was last read, on the monotonic clock. */
export const lastFinality = perChain(() => ({ readAtMs: -Infinity }));

/**
 * Whether this poll reads the chain's own finality: always while a movement waits for it, else at intervals. It costs
 * two calls to each provider, however short the chain's blocks are.
 */
export async function isFinalityDue(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<boolean> {
  const { readAtMs } = lastFinality(world, chain);
  if (world.clock.monotonicMs() - readAtMs >= IDLE_MS) return true;
  const tiers = findWatchedChain(world.catalog, chain.caip2)?.finality ?? [];
  if (!tiers.some(({ finality }) => "tag" in finality)) return false;
  return hasMovementAbove(world.db, { chain: chain.caip2, number: cursor.finalized_number });
}

/**
 * Stores the chain's finality as numbers of blocks that we know and that the reporting provider has. A bare number
 * could finalize a deposit on a replaced branch that is not yet orphaned here. Without `told` nothing is asked. Books
 * one batch per call, so that finality never waits for the ledger.
 */
export async function confirmFinality(
  world: WatchWorld,
  chain: Chain,
  { cursor, told }: { cursor: CursorRow; told: ToldHeads | undefined },
): Promise<CursorRow> {
  const heads = told && (await chain.providers.finalHeads(told));
  const [safe, finalized] = await Promise.all([
    findKnownNumber(world, chain, { cursor, head: heads?.safe }),
    findKnownNumber(world, chain, { cursor, head: heads?.finalized }),
  ]);
  if (told) lastFinality(world, chain).readAtMs = world.clock.monotonicMs();
  const safeNumber = highestOf(cursor.safe_number, safe, finalized);
  const finalizedNumber = highestOf(cursor.finalized_number, finalized);
  const at = world.clock.now();
  const bookedNumber = await world.db.transaction(async (tx) => {
    const state = await storeFinality(tx, { chain: chain.caip2, cursor, safeNumber, finalizedNumber, at });
    return state && bookMovements(tx, world, { chain: chain.caip2, cursor: state, at });
  });
  if (safeNumber > cursor.safe_number || finalizedNumber > cursor.finalized_number) wakeBlockConsumers(world, chain);
  return {
    ...cursor,
    safe_number: safeNumber,
    finalized_number: finalizedNumber,
    booked_number: bookedNumber ?? cursor.booked_number,
    updated_at: at,
  };
}

/** The highest known block that the head covers; undefined when there is none, or when the providers fail. */
async function findKnownNumber(
  world: WatchWorld,
  chain: Chain,
  { cursor, head }: { cursor: CursorRow; head: BlockRef | undefined },
): Promise<bigint | undefined> {
  if (head === undefined) return undefined;
  try {
    const upTo = lowestOf(head.number, cursor.number);
    const [known] = await listKnownBlocks(world.db, { chain: chain.caip2, upTo, limit: 1 });
    return known && (await isCanonical(chain, known, head)) ? known.number : undefined;
  } catch (error) {
    if (error instanceof ProviderFailed) return undefined;
    throw error;
  }
}

async function isCanonical(chain: Chain, known: KnownBlock, head: BlockRef): Promise<boolean> {
  if (known.number === head.number) return known.hash === head.hash;
  // A provider that stands still below the block says nothing about it.
  const block = await chain.providers.run(async (reader) => {
    const found = await reader.block({ number: known.number });
    if (!found) throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${known.number}`);
    return found;
  });
  return block.hash === known.hash;
}
