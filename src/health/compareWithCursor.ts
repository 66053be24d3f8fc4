import type { Chain } from "../chain/chain.ts";
import type { BlockRef, ChainReader } from "../chain/reader.ts";
import { BEHIND } from "../watch/behind.ts";
import { blocksIn } from "../watch/blockTime.ts";
import type { ProviderComparison } from "../watch/providers/pollProviders.ts";
import type { CursorRow } from "../watch/store/store.ts";
import type { World } from "../world.ts";

export type Agreement = ProviderComparison["kind"];

type Compared = { reader: ChainReader; chain: Chain; cursor: CursorRow; head: BlockRef };

/** The provider's block at the recorded height: the same, another, or a head far below. Undefined when unknown. */
export async function compareWithCursor(
  world: Pick<World, "memory" | "catalog">,
  { reader, chain, cursor, head }: Compared,
): Promise<Agreement | undefined> {
  if (head.number < cursor.number)
    return head.number + blocksIn(world, chain, BEHIND.recorded) < cursor.number ? "behind" : undefined;
  const block = head.number === cursor.number ? head : await reader.block({ number: cursor.number });
  if (block === undefined) return undefined;
  return block.hash === cursor.hash ? "agrees" : "differs";
}
