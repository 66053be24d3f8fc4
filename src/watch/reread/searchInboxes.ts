import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { listInboxesOnChain } from "../../intent/inboxStore.ts";
import type { MovementRow } from "../movement.ts";
import { findCursor } from "../store/store.ts";
import { readInboxTransfers } from "../search/readPart.ts";
import { NO_BLOCK, recordFound } from "../search/searchTransfers.ts";
import type { RescanWorld } from "./rescan.ts";

// Searches the whole past of inboxes that the database did not have, in parts: what is found there is recorded as by
// every other reading.

/** Requests of one part. */
const REQUESTS_MAX = 100;

export type InboxSearch = {
  recorded: readonly MovementRow[];
  /** Where the next part begins; undefined at the end, and where the chain was never read. */
  nextBlock: bigint | undefined;
};

/** Reads one part of a chain again for the inboxes of some intents, at most 100. */
export async function searchInboxes(
  world: RescanWorld,
  chain: Chain,
  { intentIds, fromBlock }: { intentIds: readonly string[]; fromBlock: bigint },
): Promise<InboxSearch> {
  const cursor = await findCursor(world.db, chain.caip2);
  const inboxes = (
    await Promise.all(intentIds.map((intentId) => listInboxesOnChain(world.db, { chain: chain.caip2, intentId })))
  ).flat();
  if (cursor === undefined || inboxes.length === 0 || fromBlock > cursor.number)
    return { recorded: [], nextBlock: undefined };
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const range = { fromBlock, toBlock: cursor.number };
  const { transfers, nextBlock } = await chain.providers.run((reader) =>
    readInboxTransfers(reader, { detection: chain.detection, range, tokens, inboxes, requestsMax: REQUESTS_MAX }),
  );
  const recorded = await recordFound(world, chain, { transfers, immutableUpTo: NO_BLOCK });
  return { recorded, nextBlock };
}

/**
 * The lowest block that may be as young as a time, by the chain's own clock. 0 where a provider knows no times, or
 * where a chain is read by accounts.
 */
export async function findFirstBlock(world: RescanWorld, chain: Chain, sinceMs: number): Promise<bigint> {
  const cursor = await findCursor(world.db, chain.caip2);
  if (cursor === undefined || chain.detection === "balances") return 0n;
  const sinceS = Math.floor(sinceMs / 1_000);
  let [low, high] = [0n, cursor.number];
  while (low < high) {
    const middle = (low + high) / 2n;
    const block = await chain.providers.run((reader) => reader.block({ number: middle }));
    // A block that the provider has not kept is older than any intent that it could show.
    if (block?.timestampS !== undefined && block.timestampS >= sinceS) high = middle;
    else low = middle + 1n;
  }
  return low;
}
