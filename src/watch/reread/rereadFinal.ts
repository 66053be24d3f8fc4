import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { BlockRange } from "../../chain/reader.ts";
import type { Tx } from "../../db/database.ts";
import { bookRevision } from "../store/bookMovements.ts";
import { REORG_BLOCKS_MAX } from "../follow/readBranch.ts";
import { resolveFinalConflicts } from "../providers/resolveFinalConflicts.ts";
import { getChainMemory } from "../chainMemory.ts";
import type { LocatedTransfer } from "../movement.ts";
import { rereadRange, type RereadChanges } from "./rereadRange.ts";
import { logReversal, wakeMovementConsumers, type WatchWorld } from "../store/applySegment.ts";
import {
  advanceReread,
  listHashesAt,
  listMovementsBetween,
  orphanMovements,
  pruneBlocks,
  writeMovements,
  type CursorRow,
} from "../store/store.ts";

/** A chain that never says what is final is read again at this depth. */
const FINAL_DEPTH_WITHOUT_TAG = 1_024n;
/**
 * Where one provider's word suffices, blocks are read again at this depth at least. Of several nodes behind one name the one that tells the
 * logs may lag, and answers with an empty list for blocks that the other one has just called final.
 */
export const REREAD_DEPTH_MIN = 16n;

/**
 * Reads the next final blocks a second time, of others than the first provider where there are others, lets the database say which
 * addresses are inboxes, and mends what differs: a log that was withheld, an inbox that the memory had missed, a movement that is not there.
 * Returns whether there is more that can be read right away.
 */
export async function rereadFinal(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<boolean> {
  const asked = findWatchedChain(world.catalog, chain.caip2)?.agreement?.providers ?? 1;
  const providers = Math.min(asked, chain.providers.providerCount);
  const upTo = computeRereadLimit(cursor, providers);
  const range = nextRange(world, chain, { cursor, upTo });
  if (!range) return false;
  const recorded = await listMovementsBetween(world.db, { chain: chain.caip2, ...range });
  const changes = await rereadRange(world, chain, { range, recorded, providers });
  if (!changes) return false;
  const { located, removed } = changes;
  logChanges(world, chain, changes);
  const at = world.clock.now();
  const written = await world.db.transaction(async (tx) => {
    const canonical = await filterCanonical(tx, chain, located);
    // What is disputed, or stands on a branch that has not been followed yet, is read again, and no block behind it is passed.
    const to = changes.isDisputed || canonical.length < located.length ? cursor.reread_number : range.toBlock;
    const reach = await advanceReread(tx, { chain: chain.caip2, from: cursor, to });
    if (reach === undefined) return { changed: 0, reversed: 0, isPassed: false, refused: [] };
    const { revision } = reach;
    await orphanMovements(tx, { ids: removed.map((row) => row.id), revision, at });
    // What stands below these blocks was agreed on before, and one of several readings is enough to tell of something that seems new.
    const immutableUpTo = cursor.reread_number;
    const rewritten = await writeMovements(tx, { chain: chain.caip2, located: canonical, revision, at, immutableUpTo });
    const changed = rewritten.length + removed.length;
    const reversed = changed > 0 ? await bookRevision(tx, { chain: chain.caip2, cursor: reach, at }) : 0;
    // Blocks that only one provider knows may be none: until others have been heard, those below them are the way back.
    if (chain.providers.providerCount < 2 || getChainMemory(world, chain).hasMultipleReplies)
      await pruneBlocks(tx, { chain: chain.caip2, below: minNumber(to, cursor.number - BigInt(REORG_BLOCKS_MAX)) });
    const refused = rewritten.length < canonical.length ? canonical : [];
    return { changed, reversed, isPassed: to > cursor.reread_number, refused };
  });
  if (written.reversed > 0) logReversal(world, chain, written.reversed);
  if (written.changed > 0) wakeMovementConsumers(world, chain);
  if (written.refused.length > 0) await resolveFinalConflicts(world, chain, written.refused);
  return written.isPassed && range.toBlock < upTo;
}

/** Those whose block is ours, as far as we still hold the blocks. */
async function filterCanonical(
  tx: Tx,
  chain: Chain,
  sightings: readonly LocatedTransfer[],
): Promise<LocatedTransfer[]> {
  const numbers = sightings.map(({ blockNumber }) => blockNumber);
  const known = await listHashesAt(tx, { chain: chain.caip2, numbers });
  const hashes = new Map(known.map(({ number, hash }) => [number, hash]));
  return sightings.filter(({ blockNumber, blockHash }) => (hashes.get(blockNumber) ?? blockHash) === blockHash);
}

function computeRereadLimit({ number, finalized_number: finalizedNumber }: CursorRow, providers: number): bigint {
  if (finalizedNumber < 0n) return number - FINAL_DEPTH_WITHOUT_TAG;
  return providers > 1 ? finalizedNumber : minNumber(finalizedNumber, number - REREAD_DEPTH_MIN);
}

function nextRange(
  world: WatchWorld,
  chain: Chain,
  { cursor, upTo }: { cursor: CursorRow; upTo: bigint },
): BlockRange | undefined {
  const fromBlock = cursor.reread_number + 1n;
  if (fromBlock > upTo) return undefined;
  const { blocks } = getChainMemory(world, chain).rereadSize;
  return { fromBlock, toBlock: minNumber(upTo, fromBlock + blocks - 1n) };
}

function logChanges(world: WatchWorld, chain: Chain, { located, removed }: RereadChanges): void {
  for (const { chainTx, place, inbox } of located) {
    world.log.error(
      { chain: chain.caip2, chainTx, place: String(place), inbox },
      "a final block holds a movement that was not recorded",
    );
  }
  for (const { id, chain_tx: chainTx, inbox } of removed) {
    world.log.error(
      { chain: chain.caip2, movement: String(id), chainTx, inbox },
      "a recorded movement is not on the final chain",
    );
  }
}

function minNumber(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
