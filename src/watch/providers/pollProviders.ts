import type { Chain } from "../../chain/chain.ts";
import type { BlockRef, ChainReader } from "../../chain/reader.ts";
import { blocksIn, NEAR_HEAD } from "../blockTime.ts";
import type { WatchWorld } from "../store/applySegment.ts";
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
 * Compares every available provider with the cursor, in two requests each. Providers that fail or lack a comparable
 * block are left out.
 */
export async function pollProviders(
  world: Pick<WatchWorld, "db" | "memory" | "catalog">,
  chain: Chain,
  cursor: KnownBlock,
): Promise<ProviderComparison[]> {
  const replies = await chain.providers.askEach(
    (reader) => compareWithProvider(world, reader, { chain, cursor }),
    "awake",
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
  const head = await reader.head("latest");
  const known = head.number < cursor.number ? await findKnownBlock(world, chain, head.number) : cursor;
  if (known === undefined) return undefined;
  const block = known.number === head.number ? head : await reader.block({ number: known.number });
  if (block === undefined) return undefined;
  if (block.hash !== known.hash) return { kind: "differs", head };
  return { kind: head.number + blocksIn(world, chain, NEAR_HEAD) < cursor.number ? "behind" : "agrees", head };
}

async function findKnownBlock(
  world: Pick<WatchWorld, "db" | "memory" | "catalog">,
  chain: Chain,
  upTo: bigint,
): Promise<KnownBlock | undefined> {
  const [known] = await listKnownBlocks(world.db, { chain: chain.caip2, upTo, limit: 1 });
  return known;
}
