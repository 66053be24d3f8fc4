import { sql } from "kysely";
import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRange, type ChainReader, type Transfer } from "../../chain/reader.ts";
import type { Tx } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { listInboxesOnChain } from "../../intent/inboxStore.ts";
import { findIntentById } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import { bookRevision } from "../store/bookMovements.ts";
import { resolveFinalConflicts } from "../providers/resolveFinalConflicts.ts";
import type { MovementRow, LocatedTransfer } from "../movement.ts";
import {
  matchInboxesInDatabase,
  locateTransfers,
  wakeMovementConsumers,
  type WatchWorld,
} from "../store/applySegment.ts";
import { claimRevision, findCursor, writeMovements } from "../store/store.ts";

// A person who misses a payment asks for one transaction or one inbox to be read again. It goes the same way as every other
// reading, so that it can add nothing which the chain does not hold, and nothing twice.

/** Below every block: what a person asks for may also mend what was agreed on before. */
const NO_BLOCK = -1n;

export type RescanWorld = WatchWorld & Pick<World, "chains">;

export type Rescan = {
  chain: Caip2;
  /**
   * `read`: what is there is recorded now. `unknown`: the chain knows no such transaction. `reverted`: it moved nothing. `ahead`: its block
   * is beyond what was read of the chain, and will be found in its turn. `unwatched`: the chain was never read.
   */
  outcome: "read" | "unknown" | "reverted" | "ahead" | "unwatched";
  /** What was recorded by this rescan; empty when everything had been. */
  recorded: MovementRow[];
};

export type RescanRange = {
  /** How far back from the last block that was read; 50,000 when absent. */
  blocks?: bigint;
};

const BLOCKS_DEFAULT = 50_000n;
/** Filtered by one inbox, long ranges are cheap to answer; a provider that refuses them makes them shorter. */
const RANGE_BLOCKS_START = 10_000n;
/** Questions for one chain. Whoever needs more asks for fewer blocks. */
const REQUESTS_MAX = 500;

/** Reads one transaction again, on `chain` or on all of them. Throws Fault not_found for a chain that is not configured. */
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
  const found = await chain.providers.ask(async (reader) => {
    const [proof] = await reader.proofs([chainTx]);
    if (!proof?.succeeded || proof.blockNumber > cursor.number) return { proof, transfers: [] };
    const transfers = await reader.transfers({ blockHash: proof.blockHash }, tokens);
    return { proof, transfers: transfers.filter((transfer) => transfer.chainTx === chainTx) };
  });
  if (!found.proof) return { chain: caip2, outcome: "unknown", recorded: [] };
  if (!found.proof.succeeded) return { chain: caip2, outcome: "reverted", recorded: [] };
  if (found.proof.blockNumber > cursor.number) return { chain: caip2, outcome: "ahead", recorded: [] };
  const { transfers } = found;
  return {
    chain: caip2,
    outcome: "read",
    recorded: await applyFoundTransfers(world, chain, { transfers, immutableUpTo: NO_BLOCK }),
  };
}

/** Reads the last blocks of every chain again for the inboxes of one intent. Throws Fault not_found when there is no such intent. */
export async function rescanIntent(world: RescanWorld, intentId: string, range: RescanRange = {}): Promise<Rescan[]> {
  if ((await findIntentById(world.db, intentId)) === undefined)
    throw new Fault("not_found", { message: "No such intent." });
  return Promise.all([...world.chains.values()].map((chain) => rescanInboxes(world, chain, { intentId, ...range })));
}

async function rescanInboxes(
  world: RescanWorld,
  chain: Chain,
  { intentId, blocks = BLOCKS_DEFAULT }: RescanRange & { intentId: string },
): Promise<Rescan> {
  const cursor = await findCursor(world.db, chain.caip2);
  if (!cursor) return { chain: chain.caip2, outcome: "unwatched", recorded: [] };
  const fromBlock = cursor.number > blocks ? cursor.number - blocks + 1n : 0n;
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const inboxes = await listInboxesOnChain(world.db, { chain: chain.caip2, intentId });
  if (inboxes.length === 0) return { chain: chain.caip2, outcome: "read", recorded: [] };
  const transfers = await chain.providers.ask((reader) =>
    readInboxTransfers(reader, { range: { fromBlock, toBlock: cursor.number }, tokens, inboxes }),
  );
  const recorded = await applyFoundTransfers(world, chain, { transfers, immutableUpTo: NO_BLOCK });
  return { chain: chain.caip2, outcome: "read", recorded };
}

async function readInboxTransfers(
  reader: ChainReader,
  { range, tokens, inboxes }: { range: BlockRange; tokens: readonly string[]; inboxes: readonly string[] },
): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  let size = RANGE_BLOCKS_START;
  let next = range.fromBlock;
  for (let questions = 0; next <= range.toBlock; questions += 1) {
    if (questions === REQUESTS_MAX)
      throw new ProviderFailed("range_too_large", `${reader.name} answers too few blocks at a time`);
    const end = next + size - 1n < range.toBlock ? next + size - 1n : range.toBlock;
    try {
      transfers.push(...(await reader.transfers({ fromBlock: next, toBlock: end }, tokens, inboxes)));
      next = end + 1n;
    } catch (error) {
      const mayShrink = error instanceof ProviderFailed && error.kind === "range_too_large" && size > 1n;
      if (!mayShrink) throw error;
      size /= 2n;
    }
  }
  return transfers;
}

type FoundTransfers = {
  transfers: readonly Transfer[];
  /** As `Writing` has it. */
  immutableUpTo?: bigint;
  /** Where one provider adds to what another one has told: what left an inbox makes a settlement look landed, and takes the word of more. */
  isOnlyIncoming?: boolean;
};

/** Writes what was found, under the lock of the cursor, without what stands in a block that we know to be replaced. */
export async function applyFoundTransfers(
  world: WatchWorld,
  chain: Chain,
  { transfers, immutableUpTo, isOnlyIncoming = false }: FoundTransfers,
): Promise<MovementRow[]> {
  const candidates = await matchInboxesInDatabase(world, chain, transfers);
  const wanted = candidates.filter(({ direction }) => direction === "in" || !isOnlyIncoming);
  const sightings = await locateTransfers(chain, wanted);
  if (sightings.length === 0) return [];
  const at = world.clock.now();
  const { written, standing } = await world.db.transaction(async (tx) => {
    const claimed = await claimRevision(tx, chain.caip2);
    if (!claimed) return { written: [], standing: [] };
    const replaced = await listReplacedBlocks(tx, chain, sightings);
    const canonical = sightings.filter(
      ({ blockNumber, blockHash }) => blockNumber <= claimed.number && !replaced.has(blockHash),
    );
    const { revision } = claimed;
    const written = await writeMovements(tx, { chain: chain.caip2, located: canonical, revision, at, immutableUpTo });
    if (written.length > 0) await bookRevision(tx, { chain: chain.caip2, cursor: claimed, at });
    return { written, standing: canonical };
  });
  if (written.length > 0) wakeMovementConsumers(world, chain);
  if (written.length < standing.length) await resolveFinalConflicts(world, chain, standing);
  return written;
}

/** The blocks among those of the sightings of which we know that they are not on our branch. */
async function listReplacedBlocks(
  tx: Tx,
  { caip2 }: Chain,
  sightings: readonly LocatedTransfer[],
): Promise<Set<string>> {
  const hashes = sightings.map(({ blockHash }) => blockHash);
  const numbers = sightings.map(({ blockNumber }) => blockNumber);
  const { rows } = await sql<{ hash: string }>`
    select told.hash from unnest(${array(hashes, "text")}, ${array(numbers, "int8")}) as told (hash, number)
    join block on block.chain = ${caip2} and (
      (block.number = told.number and block.hash <> told.hash and block.orphaned_at is null)
      or (block.hash = told.hash and block.orphaned_at is not null))`.execute(tx);
  return new Set(rows.map(({ hash }) => hash));
}
