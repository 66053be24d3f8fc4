import { watchedTokens } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed } from "../chain/driver.ts";
import { bookRevision } from "./book.ts";
import { REORG_BLOCKS_MAX } from "./branch.ts";
import { memoryOf } from "./memory.ts";
import { compareFinal, type Candidate, type MovementRow } from "./movement.ts";
import { readRange, type RangeReading } from "./range.ts";
import { alarmOfReversal, matchInDatabase, place, wakeFollowers, type WatchWorld } from "./record.ts";
import {
  advanceReread,
  listMovementsBetween,
  orphanMovements,
  pruneBlocks,
  writeMovements,
  type CursorRow,
} from "./store.ts";

/** A chain that never says what is final is read again at this depth. */
const DEPTH_WITHOUT_TAG = 1_024n;

/**
 * Reads the next final blocks a second time, of another provider where there is one, lets the database say which addresses are
 * inboxes, and mends what differs: a log that was withheld, an inbox that the memory had missed, a movement that is not there.
 */
export async function rereadFinal(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<void> {
  const reading = await readNext(world, chain, cursor);
  if (!reading) return;
  const candidates = await matchInDatabase(world, reading.transfers);
  const recorded = await listMovementsBetween(world.db, { chain: chain.caip2, ...reading.range });
  const { missing, doubtful } = compareFinal(candidates, recorded);
  const sightings = await place(chain, missing);
  const gone = await confirmGone(world, chain, doubtful);
  alarm(world, chain, { missing, gone });
  const at = world.clock.now();
  const to = reading.range.toBlock;
  const written = await world.db.transaction(async (tx) => {
    const reach = await advanceReread(tx, { chain: chain.caip2, from: cursor, to });
    if (reach === undefined) return { changed: 0, reversed: 0 };
    const { revision } = reach;
    await orphanMovements(tx, { ids: gone.map((row) => row.id), revision, at });
    const mended = await writeMovements(tx, { chain: chain.caip2, sightings, revision, at });
    const changed = mended.length + gone.length;
    const reversed = changed > 0 ? await bookRevision(tx, { chain: chain.caip2, reach, at }) : 0;
    await pruneBlocks(tx, { chain: chain.caip2, below: lowest(to, cursor.number - BigInt(REORG_BLOCKS_MAX)) });
    return { changed, reversed };
  });
  if (written.reversed > 0) alarmOfReversal(world, chain, written.reversed);
  if (written.changed > 0) wakeFollowers(world, chain);
}

async function readNext(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<RangeReading | undefined> {
  const upTo = cursor.finalized_number >= 0n ? cursor.finalized_number : cursor.number - DEPTH_WITHOUT_TAG;
  const fromBlock = cursor.reread_number + 1n;
  if (fromBlock > upTo) return undefined;
  const size = memoryOf(chain, world.clock).rereadSize;
  const range = { fromBlock, toBlock: lowest(upTo, fromBlock + size.blocks - 1n) };
  const tokens = watchedTokens(world.catalog, chain.caip2);
  try {
    const reading = await chain.providers.askAnother((driver) => readRange(driver, range, tokens));
    size.learn(reading);
    return reading;
  } catch (error) {
    const isTooLarge = error instanceof ProviderFailed && error.kind === "range_too_large";
    if (isTooLarge && size.shrink()) return undefined;
    throw error;
  }
}

/**
 * An answer may lack logs, also the second time. A movement is only taken back when the first provider and the last one agree that its
 * transaction is not in its block.
 */
async function confirmGone(world: WatchWorld, chain: Chain, doubtful: readonly MovementRow[]): Promise<MovementRow[]> {
  if (doubtful.length === 0) return [];
  const chainTxs = [...new Set(doubtful.map((row) => row.chain_tx))];
  const [first, last] = await Promise.all([
    chain.providers.ask((driver) => driver.positions(chainTxs)),
    chain.providers.askAnother((driver) => driver.positions(chainTxs)),
  ]);
  const mined = new Set([...first, ...last].map((position) => `${position.chainTx}/${position.blockHash}`));
  const gone = doubtful.filter((row) => !mined.has(`${row.chain_tx}/${row.block_hash}`));
  const kept = doubtful.length - gone.length;
  if (kept > 0)
    world.log.warn({ chain: chain.caip2, kept }, "a provider left out logs of final blocks whose receipts it has");
  return gone;
}

function alarm(
  world: WatchWorld,
  chain: Chain,
  { missing, gone }: { missing: readonly Candidate[]; gone: readonly MovementRow[] },
): void {
  for (const { chainTx, logIndex, inbox } of missing) {
    world.log.error(
      { chain: chain.caip2, chainTx, logIndex, inbox },
      "a final block holds a movement that was not recorded",
    );
  }
  for (const { id, chain_tx: chainTx, inbox } of gone) {
    world.log.error(
      { chain: chain.caip2, movement: String(id), chainTx, inbox },
      "a recorded movement is not on the final chain",
    );
  }
}

function lowest(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
