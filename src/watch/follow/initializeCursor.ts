import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { WatchWorld } from "../store/applySegment.ts";
import { insertCursor } from "../store/store.ts";

/** Headers kept from before the beginning: a reorganisation soon after it may reach below, and has to meet a block that we know. */
const ANCESTOR_BLOCKS = 64n;

/** Clocks of chains and computers differ by less. */
const CLOCK_SKEW_MS_MAX = 600_000;

/**
 * Begins a chain that is new here at its present head, or below what it was promised for already: addresses are given to payers also while
 * no provider answers. Nothing happens when somebody else began it.
 */
export async function initializeCursor(world: WatchWorld, chain: Chain, genesisHash: string): Promise<void> {
  const firstIssuedAt = await findFirstIssuedAt(world.db, chain.caip2);
  const { head, earlier: ancestors } = await chain.providers.ask(async (reader) => {
    const latest = await reader.head("latest");
    return readStartBlocks(
      reader,
      firstIssuedAt === undefined ? latest : await findBlockBefore(reader, latest, firstIssuedAt),
    );
  });
  const at = world.clock.now();
  await world.db.transaction((tx) => insertCursor(tx, { chain: chain.caip2, genesisHash, head, ancestors, at }));
}

/** When somebody was first told of an address to pay on a chain; undefined where nobody was. */
async function findFirstIssuedAt(db: Db, chain: Caip2): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(created_at) from intent where payout_namespace || ':' || payout_chain_reference = ${chain}),
      (select min(issued_at) from source_inbox where namespace || ':' || reference = ${chain})) as at`.execute(db.root);
  return rows[0]?.at ?? undefined;
}

/** The highest block from before a time, or the very first one. */
async function findBlockBefore(reader: ChainReader, latest: BlockRef, time: Date): Promise<BlockRef> {
  const timeMs = time.getTime() - CLOCK_SKEW_MS_MAX;
  const isBefore = ({ timestampS }: BlockRef) => timestampS * 1_000 < timeMs;
  if (isBefore(latest)) return latest;
  let found = await fetchBlock(reader, 0n);
  let above = latest.number;
  while (above - found.number > 1n) {
    const middle = await fetchBlock(reader, (found.number + above) / 2n);
    if (isBefore(middle)) found = middle;
    else above = middle.number;
  }
  return found;
}

async function fetchBlock(reader: ChainReader, number: bigint): Promise<BlockRef> {
  const block = await reader.block({ number });
  if (!block) throw new ProviderFailed("unknown_block", `${reader.name} lacks block ${number}`);
  return block;
}

async function readStartBlocks(reader: ChainReader, head: BlockRef): Promise<{ head: BlockRef; earlier: BlockRef[] }> {
  const numbers: bigint[] = [];
  for (let back = 1n; back <= ANCESTOR_BLOCKS && back <= head.number; back += 1n) numbers.push(head.number - back);
  const earlier: BlockRef[] = [];
  let child = head;
  for (const block of await Promise.all(numbers.map((number) => reader.block({ number })))) {
    if (block?.hash !== child.parentHash)
      throw new ProviderFailed("unknown_block", `${reader.name} shows no parent of block ${child.number}`);
    earlier.push(block);
    child = block;
  }
  return { head, earlier };
}
