import type { Chain } from "../../chain/chain.ts";
import type { BlockRef, ChainReader, Transfer } from "../../chain/reader.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import type { Tx } from "../../db/database.ts";
import type { World } from "../../world.ts";
import { bookMovements, bookRevision, type BookingLimits } from "./bookMovements.ts";
import { resolveFinalConflicts } from "../providers/resolveFinalConflicts.ts";
import { listInboxesAmong } from "../inboxes/inboxes.ts";
import { storeBurningInboxes } from "../inboxes/burningInboxes.ts";
import { getWatchedInboxes } from "../inboxes/watchedInboxes.ts";
import {
  filterInboxTransfers,
  assignIdentities,
  chainTxsToProve,
  type InboxTransfer,
  type LocatedTransfer,
} from "../movement.ts";
import type { InboxFilter } from "../catchUp/readRange.ts";
import { postponeDust } from "../postponed/postponeDust.ts";
import { advanceCursor, rewindCursor, type CursorAdvance, type KnownBlock } from "./store.ts";

export type WatchWorld = Pick<World, "db" | "clock" | "wake" | "memory" | "catalog" | "log"> & BookingLimits;

/** A segment of the chain that was read completely. */
export type ChainSegment = {
  /** The cursor position at the time of the read. */
  from: KnownBlock;
  /** The last block that the chain shares with our tables; `from` itself without a reorg. */
  ancestorNumber: bigint;
  to: KnownBlock;
  /** The blocks of the segment whose headers are known. */
  blocks: readonly BlockRef[];
  located: readonly LocatedTransfer[];
};

/**
 * Writes a segment, orphans the blocks that it replaces and moves the cursor, in one transaction. Returns false when
 * another process was faster.
 */
export async function applySegment(world: WatchWorld, chain: Chain, segment: ChainSegment): Promise<boolean> {
  const advance = { chain: chain.caip2, ...segment, at: world.clock.now() };
  const isReorg = segment.ancestorNumber < segment.from.number;
  const outcome = await world.db.transaction((tx) => writeSegment(tx, world, { advance, isReorg }));
  if (outcome === undefined) return false;
  await afterCommit(world, chain, { ...outcome, isReorg, located: segment.located });
  return true;
}

type AppliedCounts = { reversedCount: number; writtenCount: number; isReorg?: boolean };

/** Runs after a segment's commit: logs reversals, wakes the consumers, and resolves conflicts with final movements. */
export async function afterCommit(
  world: WatchWorld,
  chain: Chain,
  { reversedCount, writtenCount, isReorg = false, located }: AppliedCounts & Pick<ChainSegment, "located">,
): Promise<void> {
  if (reversedCount > 0) logReversal(world, chain, reversedCount);
  if (writtenCount > 0 || reversedCount > 0 || isReorg) wakeMovementConsumers(world, chain);
  else wakeBlockConsumers(world, chain);
  if (writtenCount < located.length) await resolveFinalConflicts(world, chain, located);
}

async function writeSegment(
  tx: Tx,
  world: WatchWorld,
  { advance, isReorg }: { advance: CursorAdvance & { ancestorNumber: bigint }; isReorg: boolean },
): Promise<AppliedCounts | undefined> {
  const { chain, at } = advance;
  if (isReorg && (await rewindCursor(tx, advance)) === undefined) return undefined;
  const cursor = await advanceCursor(tx, advance);
  if (cursor === undefined) return undefined;
  // What the rewind orphaned has the revision of the advance.
  const isRevision = isReorg || cursor.hasChangedMovement;
  const reversedCount = isRevision ? await bookRevision(tx, { chain, cursor, at }) : 0;
  await bookMovements(tx, world, { chain, cursor, at });
  return { reversedCount, writtenCount: cursor.writtenCount };
}

/**
 * Booked transactions should never change: either the chain's first finality tier is too low, or its providers reported
 * a false chain.
 */
export function logReversal(world: WatchWorld, chain: Chain, reversed: number): void {
  world.log.error({ chain: chain.caip2, reversed }, "booked transactions changed; their postings were reversed");
}

/**
 * Selects the transfers of inboxes in memory. The memory is refreshed after the read, because payers see an address
 * only after its intent commits. The reporting reader also proves the transfers: when it cannot, the next provider
 * answers everything.
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
  return locateWithProvider(world, reader, await postponeDust(world, reader, candidates));
}

/** The inboxes of a chain in memory, in the form that readers need. */
export function inboxFilter(world: Pick<World, "db" | "clock" | "memory">, chain: Caip2): InboxFilter {
  const inboxes = getWatchedInboxes(world, namespaceOf(chain));
  return {
    refresh: () => inboxes.refresh(world.db),
    has: (address) => inboxes.has(address),
    hasAt: (bytes, offset) => inboxes.hasAt(bytes, offset),
  };
}

/** Selects the transfers of inboxes by the database, which knows every inbox. For reads that are not urgent. */
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

/** Fetches proofs for these candidates only, and identifies each. */
export async function locateTransfers(
  world: WatchWorld,
  chain: Chain,
  candidates: readonly InboxTransfer[],
): Promise<LocatedTransfer[]> {
  if (candidates.length === 0) return [];
  return chain.providers.ask((reader) => locateWithProvider(world, reader, candidates));
}

/** Same as locateTransfers, with one given provider. */
export async function locateWithProvider(
  world: WatchWorld,
  reader: ChainReader,
  candidates: readonly InboxTransfer[],
): Promise<LocatedTransfer[]> {
  if (candidates.length === 0) return [];
  const chainTxs = chainTxsToProve(candidates, reader.mintSender);
  const proofs = chainTxs.length === 0 ? [] : await reader.proofs(chainTxs);
  const located = assignIdentities(candidates, proofs, reader.mintSender);
  await storeBurningInboxes(world, reader.caip2, located);
  return located;
}

/** Wakes the deposit and settlement stations after a change of movements. */
export function wakeMovementConsumers(world: WatchWorld, chain: Chain): void {
  wakeBlockConsumers(world, chain);
  world.wake.notify(`settlements:${chain.caip2}`);
}

/** Wakes what waits for confirmations, after a block or finality without a change of movements. */
export function wakeBlockConsumers(world: WatchWorld, chain: Chain): void {
  world.wake.notify(`deposits:${chain.caip2}`);
}
