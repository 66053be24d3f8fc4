import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef } from "../../chain/reader.ts";
import { bookMovements } from "../store/bookMovements.ts";
import { wakeBlockConsumers, type WatchWorld } from "../store/applySegment.ts";
import { listKnownBlocks } from "../store/chainReads.ts";
import { storeFinality, type CursorRow, type KnownBlock } from "../store/store.ts";
import { highestOf } from "../../kernel/extremes.ts";

/**
 * Stores the chain's finality as numbers of blocks that we know and that the reporting provider has. A bare number
 * could finalize a deposit on a replaced branch that is not yet orphaned here. Books one batch per call, so that
 * finality never waits for the ledger.
 */
export async function confirmFinality(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<CursorRow> {
  const [safe, finalized] = await Promise.all([
    findTaggedNumber(world, chain, { cursor, tag: "safe" }),
    findTaggedNumber(world, chain, { cursor, tag: "finalized" }),
  ]);
  const safeNumber = highestOf(cursor.safe_number, safe, finalized);
  const finalizedNumber = highestOf(cursor.finalized_number, finalized);
  const at = world.clock.now();
  const bookedNumber = await world.db.transaction(async (tx) => {
    const state = await storeFinality(tx, { chain: chain.caip2, cursor, safeNumber, finalizedNumber, at });
    return state && bookMovements(tx, world, { chain: chain.caip2, cursor: state, at });
  });
  if (safeNumber > cursor.safe_number || finalizedNumber > cursor.finalized_number) wakeBlockConsumers(world, chain);
  return {
    ...cursor,
    safe_number: safeNumber,
    finalized_number: finalizedNumber,
    booked_number: bookedNumber ?? cursor.booked_number,
    updated_at: at,
  };
}

/** The highest known block that the tag covers; undefined when there is none, or when the providers fail. */
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
    // A chain without tags always answers with an error; its deposits count by confirmations.
    if (error instanceof ProviderFailed) return undefined;
    throw error;
  }
}

async function isCanonical(chain: Chain, known: KnownBlock, head: BlockRef): Promise<boolean> {
  if (known.number === head.number) return known.hash === head.hash;
  // A provider that stands still below the block says nothing about it.
  const block = await chain.providers.ask(async (reader) => {
    const found = await reader.block({ number: known.number });
    if (!found) throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${known.number}`);
    return found;
  });
  return block.hash === known.hash;
}
