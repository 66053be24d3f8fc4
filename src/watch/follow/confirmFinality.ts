import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef } from "../../chain/reader.ts";
import { bookMovements } from "../store/bookMovements.ts";
import { wakeMovementConsumers, type WatchWorld } from "../store/applySegment.ts";
import { storeFinality, listKnownBlocks, type CursorRow, type KnownBlock } from "../store/store.ts";

/**
 * Stores how final the chain calls itself, in numbers of blocks that we know and that are on the chain of the provider that said so. A
 * bare number would make a deposit final that stands on a branch which was left and not yet taken back here. The books follow, one step at
 * each call: how final the chain is never waits for them.
 */
export async function confirmFinality(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<CursorRow> {
  const [safe, finalized] = await Promise.all([
    findTaggedNumber(world, chain, { cursor, tag: "safe" }),
    findTaggedNumber(world, chain, { cursor, tag: "finalized" }),
  ]);
  const safeNumber = maxNumber(cursor.safe_number, safe, finalized);
  const finalizedNumber = maxNumber(cursor.finalized_number, finalized);
  const at = world.clock.now();
  const bookedNumber = await world.db.transaction(async (tx) => {
    const reach = await storeFinality(tx, { chain: chain.caip2, cursor, safeNumber, finalizedNumber, at });
    return reach && bookMovements(tx, world, { chain: chain.caip2, cursor: reach, at });
  });
  if (safeNumber > cursor.safe_number || finalizedNumber > cursor.finalized_number) wakeMovementConsumers(world, chain);
  return {
    ...cursor,
    safe_number: safeNumber,
    finalized_number: finalizedNumber,
    booked_number: bookedNumber ?? cursor.booked_number,
    updated_at: at,
  };
}

/** The highest block of ours that the tag covers; undefined when there is none, or the providers say nothing of use. */
async function findTaggedNumber(
  world: WatchWorld,
  chain: Chain,
  { cursor, tag }: { cursor: CursorRow; tag: "safe" | "finalized" },
): Promise<bigint | undefined> {
  try {
    const head = await chain.providers.head(tag);
    const upTo = head.number < cursor.number ? head.number : cursor.number;
    const [known] = await listKnownBlocks(world.db, { chain: chain.caip2, upTo, limit: 1 });
    if (!known || !(await isCanonical(chain, known, head))) return undefined;
    return known.number;
  } catch (error) {
    // A chain without tags answers every time with an error, and is counted by confirmations.
    if (error instanceof ProviderFailed) return undefined;
    throw error;
  }
}

async function isCanonical(chain: Chain, known: KnownBlock, head: BlockRef): Promise<boolean> {
  if (known.number === head.number) return known.hash === head.hash;
  const block = await chain.providers.block({ number: known.number });
  return block?.hash === known.hash;
}

function maxNumber(stored: bigint, ...reached: readonly (bigint | undefined)[]): bigint {
  return reached.reduce<bigint>((most, number) => (number !== undefined && number > most ? number : most), stored);
}
