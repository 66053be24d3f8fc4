import type { Chain } from "../../chain/chain.ts";
import { readBlocksAt, type BlockRef, type ChainReader } from "../../chain/reader.ts";
import { BEHIND } from "../behind.ts";
import { blocksIn } from "../blockTime.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { listKnownBlocks } from "../store/chainReads.ts";
import { type KnownBlock } from "../store/store.ts";

/** A provider's chain compared with the recorded one. */
export type ProviderComparison = {
  provider: string;
  /** `differs`: it has another block at a recorded number. `behind`: its blocks match, but end far below the cursor. */
  kind: "agrees" | "differs" | "behind";
  head: BlockRef;
};

/**
 * Compares every available provider with the cursor, mostly in one request each. Providers that fail or lack a
 * comparable block are left out.
 */
export async function pollProviders(
  world: Pick<WatchWorld, "db" | "memory" | "catalog">,
  chain: Chain,
  cursor: KnownBlock,
): Promise<ProviderComparison[]> {
  const replies = await chain.providers.runAll(
    (reader) => compareWithProvider(world, reader, { chain, cursor }),
    "available",
  );
  return replies.flatMap((each) =>
    "answer" in each && each.answer ? [{ provider: each.provider, ...each.answer }] : [],
  );
}

async function compareWithProvider(
  world: Pick<WatchWorld, "db" | "memory" | "catalog">,
  reader: ChainReader,
  { chain, cursor }: { chain: Chain; cursor: KnownBlock },
): Promise<Omit<ProviderComparison, "provider"> | undefined> {
  // Where it saves no request, the block is asked for once the head shows that the provider has it.
  const { latest: head, others } = await readBlocksAt(reader, reader.blocksAt ? [cursor.number] : []);
  const known = head.number < cursor.number ? await findKnownBlock(world, chain, head.number) : cursor;
  if (known === undefined) return undefined;
  const block = await findBlockOf(reader, known, { head, atCursor: others[0] });
  if (block === undefined) return undefined;
  if (block.hash !== known.hash) return { kind: "differs", head };
  return { kind: head.number + blocksIn(world, chain, BEHIND.recorded) < cursor.number ? "behind" : "agrees", head };
}

/** The provider's block at the number of a known one. A request that it has answered already is not repeated. */
async function findBlockOf(
  reader: ChainReader,
  known: KnownBlock,
  { head, atCursor }: { head: BlockRef; atCursor: BlockRef | undefined },
): Promise<BlockRef | undefined> {
  const told = [head, atCursor].find((block) => block?.number === known.number);
  return told ?? reader.block({ number: known.number });
}

async function findKnownBlock(
  world: Pick<WatchWorld, "db" | "memory" | "catalog">,
  chain: Chain,
  upTo: bigint,
): Promise<KnownBlock | undefined> {
  const [known] = await listKnownBlocks(world.db, { chain: chain.caip2, upTo, limit: 1 });
  return known;
}
