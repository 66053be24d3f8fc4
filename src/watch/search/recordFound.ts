import type { Chain } from "../../chain/chain.ts";
import type { Transfer } from "../../chain/reader.ts";
import { locateTransfers, matchInboxesInDatabase } from "../inboxes/locateTransfers.ts";
import type { MovementRow } from "../movement.ts";
import { recordMovements } from "../record/recordMovements.ts";
import type { WatchWorld } from "../watchWorld.ts";

type FoundTransfers = {
  transfers: readonly Transfer[];
  /** See MovementWrite. */
  immutableUpTo?: bigint;
  /**
   * Set when a single provider adds to another's answer. Movements out make a settlement look landed, so they need more
   * providers.
   */
  isOnlyIncoming?: boolean;
};

/** Records transfers that no reading of their blocks has recorded. Returns the changed movements. */
export async function recordFound(
  world: WatchWorld,
  chain: Chain,
  { transfers, immutableUpTo, isOnlyIncoming = false }: FoundTransfers,
): Promise<readonly MovementRow[]> {
  const candidates = await matchInboxesInDatabase(world, chain, transfers);
  const relevant = candidates.filter(({ direction }) => direction === "in" || !isOnlyIncoming);
  const located = await locateTransfers(world, chain, relevant);
  if (located.length === 0) return [];
  return (await recordMovements(world, chain, { kind: "found", located, immutableUpTo }))?.rows ?? [];
}
