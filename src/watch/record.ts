import type { Chain } from "../chain/chain.ts";
import type { BlockRef, Transfer } from "../chain/driver.ts";
import type { World } from "../world.ts";
import { watchedInboxes } from "./memory.ts";
import { candidatesOf, placed, type Candidate, type Sighting } from "./movement.ts";
import { advanceCursor, insertBlocks, listInboxesAmong, writeMovements, type KnownBlock } from "./store.ts";

export type WatchWorld = Pick<World, "db" | "clock" | "wake" | "catalog" | "log">;

/** A stretch of the chain that was read whole. */
export type Stretch = {
  /** Where the cursor stood when it was read. */
  from: KnownBlock;
  ancestorNumber: bigint;
  to: KnownBlock;
  /** Of the stretch, those whose headers are known. */
  blocks: readonly BlockRef[];
  transfers: readonly Transfer[];
};

/**
 * Writes what a stretch holds and moves the cursor, in one transaction; false when another process was quicker. The inboxes are
 * looked up after the transfers were read: an address is only ever paid after its intent was committed.
 */
export async function recordStretch(world: WatchWorld, chain: Chain, stretch: Stretch): Promise<boolean> {
  const sightings = await pickSightings(world, chain, stretch.transfers);
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const revision = await advanceCursor(tx, { chain: chain.caip2, ...stretch, at });
    if (revision === undefined) return false;
    await insertBlocks(tx, chain.caip2, stretch.blocks);
    await writeMovements(tx, { chain: chain.caip2, sightings, revision, at });
    return true;
  });
}

async function pickSightings(world: WatchWorld, chain: Chain, transfers: readonly Transfer[]): Promise<Sighting[]> {
  if (transfers.length === 0) return [];
  const inboxes = watchedInboxes(world.db, world.clock);
  await inboxes.refresh(world.db);
  return place(
    chain,
    candidatesOf(transfers, (address) => inboxes.has(address)),
  );
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
  const chainTxs = [...new Set(candidates.map((candidate) => candidate.chainTx))];
  return chain.providers.ask(async (driver) => placed(candidates, await driver.positions(chainTxs)));
}

/** Wakes whoever takes over movements: after new ones, and at each new head, because confirmations grow with it. */
export function wakeFollowers(world: WatchWorld, chain: Chain): void {
  world.wake.notify(`deposits:${chain.caip2}`);
  world.wake.notify(`settlements:${chain.caip2}`);
}
