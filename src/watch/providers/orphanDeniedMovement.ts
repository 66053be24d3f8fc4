import type { Chain } from "../../chain/chain.ts";
import { bookRevision } from "../store/bookMovements.ts";
import type { MovementRow } from "../movement.ts";
import { logReversal, wakeMovementConsumers, type WatchWorld } from "../store/applySegment.ts";
import { claimRevision, orphanMovementAt } from "../store/store.ts";

/**
 * Orphans one movement that enough providers deny, as a reorg would; a later block can restore it. Does nothing when it
 * has moved to another block. Returns whether it was orphaned.
 */
export async function orphanDeniedMovement(world: WatchWorld, chain: Chain, movement: MovementRow): Promise<boolean> {
  const at = world.clock.now();
  const outcome = await world.db.transaction(async (tx) => {
    const cursor = await claimRevision(tx, chain.caip2);
    if (cursor === undefined) return undefined;
    const { id, block_hash: blockHash } = movement;
    if (!(await orphanMovementAt(tx, { id, blockHash, revision: cursor.revision, at }))) return undefined;
    return { reversed: await bookRevision(tx, { chain: chain.caip2, cursor, at }) };
  });
  if (outcome === undefined) return false;
  if (outcome.reversed > 0) logReversal(world, chain, outcome.reversed);
  wakeMovementConsumers(world, chain);
  return true;
}
