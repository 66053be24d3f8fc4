import type { Chain } from "../chain/chain.ts";
import { bookRevision } from "./book.ts";
import type { MovementRow } from "./movement.ts";
import { alarmOfReversal, wakeFollowers, type WatchWorld } from "./record.ts";
import { claimRevision, orphanMovementAt } from "./store.ts";

/**
 * Takes back one movement that enough providers deny, as a reorg would; told again by the chain, it comes back the same way. Nothing happens
 * when it has moved to another block meanwhile. Whether it was taken back.
 */
export async function takeBackMovement(world: WatchWorld, chain: Chain, movement: MovementRow): Promise<boolean> {
  const at = world.clock.now();
  const outcome = await world.db.transaction(async (tx) => {
    const reach = await claimRevision(tx, chain.caip2);
    if (reach === undefined) return undefined;
    const { id, block_hash: blockHash } = movement;
    if (!(await orphanMovementAt(tx, { id, blockHash, revision: reach.revision, at }))) return undefined;
    return { reversed: await bookRevision(tx, { chain: chain.caip2, reach, at }) };
  });
  if (outcome === undefined) return false;
  if (outcome.reversed > 0) alarmOfReversal(world, chain, outcome.reversed);
  wakeFollowers(world, chain);
  return true;
}
