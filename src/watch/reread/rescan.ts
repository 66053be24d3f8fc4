import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { listInboxesOnChain } from "../../intent/inboxStore.ts";
import { findIntentById } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import { blocksIn, type BlockSpan } from "../blockTime.ts";
import type { MovementRow } from "../movement.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { readInboxTransfers } from "../search/readPart.ts";
import { NO_BLOCK, recordFound } from "../search/searchTransfers.ts";
import { readTransaction } from "../search/readTransaction.ts";
import { findCursor } from "../store/store.ts";

// Rereads one transaction or one inbox when a user misses a payment. It follows the path of every other read, so it
// adds nothing that the chain does not hold, and nothing twice.

export type RescanWorld = WatchWorld & Pick<World, "chains">;

export type Rescan = {
  chain: Caip2;
  /**
   * `read`: its movements are recorded now. `unknown`: the chain has no such transaction. `reverted`: it moved nothing.
   * `ahead`: its block is above the cursor and is read later. `unwatched`: the chain was never read.
   */
  outcome: "read" | "unknown" | "reverted" | "ahead" | "unwatched";
  /** The movements that this rescan recorded; empty when all were known. */
  recorded: readonly MovementRow[];
};

export type RescanRange = {
  /** Blocks below the last recorded one; default: those of about a day. */
  blocks?: bigint;
};

const RESCANNED: BlockSpan = { ms: 100_000_000, min: 2_000, max: 1_000_000 };
/** Requests per chain; more blocks need another rescan. */
const REQUESTS_MAX = 500;

/** Rereads one transaction on `chain`, or on all chains. Throws Fault not_found for an unconfigured chain. */
export async function rescanChainTx(
  world: RescanWorld,
  { chain, chainTx }: { chain?: Caip2; chainTx: string },
): Promise<Rescan[]> {
  const only = chain === undefined ? undefined : world.chains.get(chain);
  if (chain !== undefined && only === undefined)
    throw new Fault("not_found", { message: `No chain ${chain} is configured.` });
  const chains = only ? [only] : [...world.chains.values()];
  return Promise.all(chains.map((each) => rescanOnChain(world, each, chainTx)));
}

async function rescanOnChain(world: RescanWorld, chain: Chain, chainTx: string): Promise<Rescan> {
  const { caip2 } = chain;
  const cursor = await findCursor(world.db, caip2);
  if (!cursor) return { chain: caip2, outcome: "unwatched", recorded: [] };
  const tokens = watchedTokens(world.catalog, caip2);
  const found = await chain.providers.run((reader) =>
    readTransaction(reader, chainTx, { tokens, upTo: cursor.number }),
  );
  if (!found.proof) return { chain: caip2, outcome: "unknown", recorded: [] };
  if (!found.proof.succeeded) return { chain: caip2, outcome: "reverted", recorded: [] };
  if (found.proof.blockNumber > cursor.number) return { chain: caip2, outcome: "ahead", recorded: [] };
  const { transfers } = found;
  return {
    chain: caip2,
    outcome: "read",
    recorded: await recordFound(world, chain, { transfers, immutableUpTo: NO_BLOCK }),
  };
}

/** Rereads the last blocks of every chain for one intent's inboxes. Throws Fault not_found for an unknown intent. */
export async function rescanIntent(world: RescanWorld, intentId: string, range: RescanRange = {}): Promise<Rescan[]> {
  if ((await findIntentById(world.db, intentId)) === undefined)
    throw new Fault("not_found", { message: "No such intent." });
  return Promise.all([...world.chains.values()].map((chain) => rescanInboxes(world, chain, { intentId, ...range })));
}

async function rescanInboxes(
  world: RescanWorld,
  chain: Chain,
  { intentId, blocks = blocksIn(world, chain, RESCANNED) }: RescanRange & { intentId: string },
): Promise<Rescan> {
  const cursor = await findCursor(world.db, chain.caip2);
  if (!cursor) return { chain: chain.caip2, outcome: "unwatched", recorded: [] };
  const fromBlock = cursor.number > blocks ? cursor.number - blocks + 1n : 0n;
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const inboxes = await listInboxesOnChain(world.db, { chain: chain.caip2, intentId });
  if (inboxes.length === 0) return { chain: chain.caip2, outcome: "read", recorded: [] };
  const range = { fromBlock, toBlock: cursor.number };
  const transfers = await chain.providers.run(async (reader) => {
    const read = await readInboxTransfers(reader, {
      detection: chain.detection,
      range,
      tokens,
      inboxes,
      requestsMax: REQUESTS_MAX,
    });
    if (read.nextBlock === undefined) return read.transfers;
    throw new ProviderFailed("range_too_large", `${reader.name} accepts too few blocks per request`);
  });
  const recorded = await recordFound(world, chain, { transfers, immutableUpTo: NO_BLOCK });
  return { chain: chain.caip2, outcome: "read", recorded };
}
