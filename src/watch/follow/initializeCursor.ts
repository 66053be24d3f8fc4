import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { blocksIn, type BlockSpan } from "../blockTime.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { insertCursor } from "../store/store.ts";

/** Headers are stored from below the start: an early reorg may reach below it and needs a known ancestor. */
const ANCESTORS: BlockSpan = { ms: 64_000, min: 64, max: 500 };

/** Limit for the difference between the chain's clock and ours. */
const CLOCK_SKEW_MS_MAX = 600_000;

/**
 * Starts a new chain at its current head, or below the first issued address: payers get addresses even while every
 * provider is unreachable. Does nothing when another process started the chain.
 */
export async function initializeCursor(world: WatchWorld, chain: Chain): Promise<void> {
  const { genesisHash = null } = await chain.providers.identify();
  const firstIssuedAt = await findFirstIssuedAt(world.db, chain.caip2);
  const { head, earlier: ancestors } = await chain.providers.run(async (reader) => {
    const latest = await reader.head("latest");
    const start = firstIssuedAt === undefined ? latest : await findBlockBefore(reader, latest, firstIssuedAt);
    return readStartBlocks(reader, start, blocksIn(world, chain, ANCESTORS));
  });
  const at = world.clock.now();
  await world.db.transaction((tx) => insertCursor(tx, { chain: chain.caip2, genesisHash, head, ancestors, at }));
}

/** When the first address on a chain was issued; undefined when none was. */
async function findFirstIssuedAt(db: Db, chain: Caip2): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(created_at) from intent where payout_namespace || ':' || payout_chain_reference = ${chain}),
      (select min(issued_at) from source_inbox where namespace || ':' || reference = ${chain})) as at`.execute(db.root);
  return rows[0]?.at ?? undefined;
}

/**
 * The highest block before a time, or block 0. Where the node has pruned its first blocks, the lowest block that it has
 * is enough.
 */
export async function findBlockBefore(reader: ChainReader, latest: BlockRef, time: Date): Promise<BlockRef> {
  const timeMs = time.getTime() - CLOCK_SKEW_MS_MAX;
  const isBefore = ({ timestampS }: BlockRef) => timestampS !== undefined && timestampS * 1_000 < timeMs;
  if (isBefore(latest)) return latest;
  let below = { number: 0n, block: await reader.block({ number: 0n }) };
  const isPruned = below.block === undefined;
  let above = latest;
  while (above.number - below.number > 1n) {
    const number = (below.number + above.number) / 2n;
    const block = await fetchBlock(reader, number, { isPruned });
    if (block === undefined || isBefore(block)) below = { number, block };
    else above = block;
  }
  return below.block ?? above;
}

/** Undefined for what a node has pruned: its first block, and others below some block. */
async function fetchBlock(
  reader: ChainReader,
  number: bigint,
  { isPruned }: { isPruned: boolean },
): Promise<BlockRef | undefined> {
  const block = await reader.block({ number });
  if (block === undefined && !isPruned)
    throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${number}`);
  return block;
}

async function readStartBlocks(
  reader: ChainReader,
  head: BlockRef,
  count: bigint,
): Promise<{ head: BlockRef; earlier: BlockRef[] }> {
  const numbers: bigint[] = [];
  for (let back = 1n; back <= count && back <= head.number; back += 1n) numbers.push(head.number - back);
  const earlier: BlockRef[] = [];
  let child = head;
  for (const block of await Promise.all(numbers.map((number) => reader.block({ number })))) {
    // Nodes of some chains keep the newest blocks only.
    if (block === undefined) break;
    if (block.hash !== child.parentHash)
      throw new ProviderFailed("unknown_block", `${reader.name} does not have the parent of block ${child.number}`);
    earlier.push(block);
    child = block;
  }
  return { head, earlier };
}
