import type { Chain } from "../../chain/chain.ts";
import type { BlockRef, ChainReader, Transfer } from "../../chain/reader.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import type { Tx } from "../../db/database.ts";
import type { World } from "../../world.ts";
import { bookMovements, reverseRevision, type BookingLimits } from "./bookMovements.ts";
import { resolveFinalConflicts } from "../providers/resolveFinalConflicts.ts";
import { listInboxesAmong } from "../inboxes/inboxes.ts";
import { getWatchedInboxes } from "../chainMemory.ts";
import {
  filterInboxTransfers,
  assignIdentities,
  chainTxsWithoutIdentity,
  type InboxTransfer,
  type LocatedTransfer,
} from "../movement.ts";
import type { InboxFilter } from "../catchUp/readRange.ts";
import { advanceCursor, rewindCursor, type CursorAdvance, type KnownBlock } from "./store.ts";

export type WatchWorld = Pick<World, "db" | "clock" | "wake" | "memory" | "catalog" | "log"> & BookingLimits;

/** A stretch of the chain that was read whole. */
export type ChainSegment = {
  /** Where the cursor stood when it was read. */
  from: KnownBlock;
  /** The last block that the chain shares with what we had read; `from` itself when nothing was replaced. */
  ancestorNumber: bigint;
  to: KnownBlock;
  /** Of the stretch, those whose headers are known. */
  blocks: readonly BlockRef[];
  located: readonly LocatedTransfer[];
};

/**
 * Writes what a stretch holds, takes back what it replaces and moves the cursor, at once; false when another process was quicker. Those who
 * take movements over are woken, also without new ones, because confirmations grow with each block.
 */
export async function applySegment(world: WatchWorld, chain: Chain, segment: ChainSegment): Promise<boolean> {
  const advance = { chain: chain.caip2, ...segment, at: world.clock.now() };
  const isReorg = segment.ancestorNumber < segment.from.number;
  const outcome = await world.db.transaction((tx) => writeSegment(tx, world, { advance, isReorg }));
  if (outcome === undefined) return false;
  await afterCommit(world, chain, { ...outcome, located: segment.located });
  return true;
}

type AppliedCounts = { reversedCount: number; writtenCount: number };

/** What a stretch that was just committed asks for: alarms, those who follow it, and a word with whoever contradicts what is final. */
export async function afterCommit(
  world: WatchWorld,
  chain: Chain,
  { reversedCount, writtenCount, located }: AppliedCounts & Pick<ChainSegment, "located">,
): Promise<void> {
  if (reversedCount > 0) logReversal(world, chain, reversedCount);
  wakeMovementConsumers(world, chain);
  if (writtenCount < located.length) await resolveFinalConflicts(world, chain, located);
}

async function writeSegment(
  tx: Tx,
  world: WatchWorld,
  { advance, isReorg }: { advance: CursorAdvance & { ancestorNumber: bigint }; isReorg: boolean },
): Promise<AppliedCounts | undefined> {
  const { chain, at } = advance;
  let reversedCount = 0;
  if (isReorg) {
    const revision = await rewindCursor(tx, advance);
    if (revision === undefined) return undefined;
    reversedCount = await reverseRevision(tx, { chain, revision, at });
  }
  const cursor = await advanceCursor(tx, advance);
  if (cursor === undefined) return undefined;
  if (cursor.hasChangedMovement) reversedCount += await reverseRevision(tx, { chain, revision: cursor.revision, at });
  await bookMovements(tx, world, { chain, cursor, at });
  return { reversedCount, writtenCount: cursor.writtenCount };
}

/** What was booked was meant to last: the chain's first tier asks for too little, or its providers have told of a chain that is not. */
export function logReversal(world: WatchWorld, chain: Chain, reversed: number): void {
  world.log.error({ chain: chain.caip2, reversed }, "movements that had been booked are no more, and were reversed");
}

/**
 * Picks the transfers that concern us by what the memory knows. It is brought up to date after the transfers were read: an address is
 * only ever paid after its intent was committed. The reader that reported the transfers proves them too: where it cannot, its answer does
 * not count, and the next provider is asked for all of it.
 */
export async function locateInboxTransfers(
  world: WatchWorld,
  reader: ChainReader,
  transfers: readonly Transfer[],
): Promise<LocatedTransfer[]> {
  if (transfers.length === 0) return [];
  const known = inboxFilter(world, reader.caip2);
  await known.refresh();
  const candidates = filterInboxTransfers(transfers, (address) => known.has(address));
  return locateWithProvider(reader, candidates);
}

/** The inboxes on a chain that the memory knows, as the chain's readers look for them. */
export function inboxFilter(world: Pick<World, "db" | "clock" | "memory">, chain: Caip2): InboxFilter {
  const inboxes = getWatchedInboxes(world, namespaceOf(chain));
  return {
    refresh: () => inboxes.refresh(world.db),
    has: (address) => inboxes.has(address),
    hasAt: (bytes, offset) => inboxes.hasAt(bytes, offset),
  };
}

/** The candidates by the database's own word, which knows every inbox; for readings that are not urgent. */
export async function matchInboxesInDatabase(
  world: WatchWorld,
  { caip2 }: Chain,
  transfers: readonly Transfer[],
): Promise<InboxTransfer[]> {
  const addresses = new Set<string>();
  for (const { from, to } of transfers) addresses.add(from).add(to);
  const inboxes = await listInboxesAmong(world.db, caip2, [...addresses]);
  return filterInboxTransfers(transfers, (address) => inboxes.has(address));
}

/** Asks for the proofs of candidates, for these alone, and identifies each. */
export async function locateTransfers(chain: Chain, candidates: readonly InboxTransfer[]): Promise<LocatedTransfer[]> {
  if (candidates.length === 0) return [];
  return chain.providers.ask((reader) => locateWithProvider(reader, candidates));
}

/** The same by one provider's word. */
export async function locateWithProvider(
  reader: ChainReader,
  candidates: readonly InboxTransfer[],
): Promise<LocatedTransfer[]> {
  if (candidates.length === 0) return [];
  const chainTxs = chainTxsWithoutIdentity(candidates);
  return assignIdentities(candidates, chainTxs.length === 0 ? [] : await reader.proofs(chainTxs));
}

/** Wakes whoever takes over movements. */
export function wakeMovementConsumers(world: WatchWorld, chain: Chain): void {
  world.wake.notify(`deposits:${chain.caip2}`);
  world.wake.notify(`settlements:${chain.caip2}`);
}
