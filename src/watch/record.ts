import type { Chain } from "../chain/chain.ts";
import type { BlockRef, ChainDriver, Transfer } from "../chain/driver.ts";
import type { Tx } from "../db/database.ts";
import type { World } from "../world.ts";
import { bookReached, reverseRevision, type BookLimit } from "./book.ts";
import { judgeContradictions } from "./contradictions.ts";
import { listInboxesAmong } from "./inboxes.ts";
import { watchedInboxes } from "./memory.ts";
import { candidatesOf, placed, receiptsNeeded, type Candidate, type Sighting } from "./movement.ts";
import type { Known } from "./range.ts";
import { advanceCursor, takeBack, type Advance, type KnownBlock } from "./store.ts";

export type WatchWorld = Pick<World, "db" | "clock" | "wake" | "catalog" | "log"> & BookLimit;

/** A stretch of the chain that was read whole. */
export type Stretch = {
  /** Where the cursor stood when it was read. */
  from: KnownBlock;
  /** The last block that the chain shares with what we had read; `from` itself when nothing was replaced. */
  ancestorNumber: bigint;
  to: KnownBlock;
  /** Of the stretch, those whose headers are known. */
  blocks: readonly BlockRef[];
  sightings: readonly Sighting[];
};

/**
 * Writes what a stretch holds, takes back what it replaces and moves the cursor, at once; false when another process was quicker. Those who
 * take movements over are woken, also without new ones, because confirmations grow with each block.
 */
export async function recordStretch(world: WatchWorld, chain: Chain, stretch: Stretch): Promise<boolean> {
  const advance = { chain: chain.caip2, ...stretch, at: world.clock.now() };
  const isReorg = stretch.ancestorNumber < stretch.from.number;
  const outcome = await world.db.transaction((tx) => write(tx, world, { advance, isReorg }));
  if (outcome === undefined) return false;
  await followUp(world, chain, { ...outcome, sightings: stretch.sightings });
  return true;
}

type Recorded = { reversed: number; writtenCount: number };

/** What a stretch that was just committed asks for: alarms, those who follow it, and a word with whoever contradicts what is final. */
export async function followUp(
  world: WatchWorld,
  chain: Chain,
  { reversed, writtenCount, sightings }: Recorded & Pick<Stretch, "sightings">,
): Promise<void> {
  if (reversed > 0) alarmOfReversal(world, chain, reversed);
  wakeFollowers(world, chain);
  if (writtenCount < sightings.length) await judgeContradictions(world, chain, sightings);
}

async function write(
  tx: Tx,
  world: WatchWorld,
  { advance, isReorg }: { advance: Advance & { ancestorNumber: bigint }; isReorg: boolean },
): Promise<Recorded | undefined> {
  const { chain, at } = advance;
  let reversed = 0;
  if (isReorg) {
    const revision = await takeBack(tx, advance);
    if (revision === undefined) return undefined;
    reversed = await reverseRevision(tx, { chain, revision, at });
  }
  const reach = await advanceCursor(tx, advance);
  if (reach === undefined) return undefined;
  if (reach.isRetold) reversed += await reverseRevision(tx, { chain, revision: reach.revision, at });
  await bookReached(tx, world, { chain, reach, at });
  return { reversed, writtenCount: reach.writtenCount };
}

/** What was booked was meant to last: the chain's first tier asks for too little, or its providers have told of a chain that is not. */
export function alarmOfReversal(world: WatchWorld, chain: Chain, reversed: number): void {
  world.log.error({ chain: chain.caip2, reversed }, "movements that had been booked are no more, and were reversed");
}

/**
 * Picks the transfers that concern us by what the memory knows. It is brought up to date after the transfers were read: an address is
 * only ever paid after its intent was committed. Their places are asked of `driver`, who told of them: what a provider cannot show the
 * receipts of is no answer of his, and is asked of the next one as a whole.
 */
export async function pickSightings(
  world: WatchWorld,
  driver: ChainDriver,
  transfers: readonly Transfer[],
): Promise<Sighting[]> {
  if (transfers.length === 0) return [];
  const known = knownInboxes(world);
  await known.refresh();
  const candidates = candidatesOf(transfers, (address) => known.has(address));
  return placeBy(driver, candidates);
}

/** The inboxes that the memory knows, as whoever reads a chain asks for them. */
export function knownInboxes(world: Pick<World, "db" | "clock">): Known {
  const inboxes = watchedInboxes(world.db, world.clock);
  return {
    refresh: () => inboxes.refresh(world.db),
    has: (address) => inboxes.has(address),
    hasHexAt: (bytes, offset) => inboxes.hasHexAt(bytes, offset),
  };
}

/** The candidates by the database's own word, which knows every inbox; for readings that are not urgent. */
export async function matchInDatabase(world: WatchWorld, transfers: readonly Transfer[]): Promise<Candidate[]> {
  const addresses = new Set<string>();
  for (const { from, to } of transfers) addresses.add(from).add(to);
  const inboxes = await listInboxesAmong(world.db, [...addresses]);
  return candidatesOf(transfers, (address) => inboxes.has(address));
}

/** Asks for the receipts of candidates, for these alone, and puts each in its place. */
export async function place(chain: Chain, candidates: readonly Candidate[]): Promise<Sighting[]> {
  if (candidates.length === 0) return [];
  return chain.providers.ask((driver) => placeBy(driver, candidates));
}

/** The same by one provider's word. */
export async function placeBy(driver: ChainDriver, candidates: readonly Candidate[]): Promise<Sighting[]> {
  if (candidates.length === 0) return [];
  const chainTxs = receiptsNeeded(candidates);
  return placed(candidates, chainTxs.length === 0 ? [] : await driver.positions(chainTxs));
}

/** Wakes whoever takes over movements. */
export function wakeFollowers(world: WatchWorld, chain: Chain): void {
  world.wake.notify(`deposits:${chain.caip2}`);
  world.wake.notify(`settlements:${chain.caip2}`);
}
