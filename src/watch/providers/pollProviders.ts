import type { Chain } from "../../chain/chain.ts";
import type { BlockRef, ChainReader } from "../../chain/reader.ts";
import { NEAR_BLOCKS } from "../follow/readBranch.ts";
import type { WatchWorld } from "../store/applySegment.ts";
import { listKnownBlocks, type KnownBlock } from "../store/store.ts";

/** What a provider thinks of the chain as we have recorded it. */
export type ProviderComparison = {
  provider: string;
  /** `differs`: it has another block where we have one. `behind`: it has no other, but ends far below our cursor. */
  kind: "agrees" | "differs" | "behind";
  head: BlockRef;
};

/** Asks each provider that is awake; who does not answer, or cannot tell, has no opinion. Two questions for each. */
export async function pollProviders(
  world: Pick<WatchWorld, "db">,
  chain: Chain,
  cursor: KnownBlock,
): Promise<ProviderComparison[]> {
  const said = await chain.providers.askEach(
    (reader) => compareWithProvider(world, reader, { chain, cursor }),
    "awake",
  );
  return said.flatMap((each) => ("answer" in each && each.answer ? [{ provider: each.provider, ...each.answer }] : []));
}

async function compareWithProvider(
  world: Pick<WatchWorld, "db">,
  reader: ChainReader,
  { chain, cursor }: { chain: Chain; cursor: KnownBlock },
): Promise<Omit<ProviderComparison, "provider"> | undefined> {
  const head = await reader.head("latest");
  const known = head.number < cursor.number ? await findKnownBlock(world, chain, head.number) : cursor;
  if (known === undefined) return undefined;
  const block = known.number === head.number ? head : await reader.block({ number: known.number });
  if (block === undefined) return undefined;
  if (block.hash !== known.hash) return { kind: "differs", head };
  return { kind: head.number + NEAR_BLOCKS < cursor.number ? "behind" : "agrees", head };
}

async function findKnownBlock(
  world: Pick<WatchWorld, "db">,
  chain: Chain,
  upTo: bigint,
): Promise<KnownBlock | undefined> {
  const [known] = await listKnownBlocks(world.db, { chain: chain.caip2, upTo, limit: 1 });
  return known;
}
