import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type ChainReader } from "../../chain/reader.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import { addMs } from "../../kernel/clock.ts";
import { initializeCursor } from "./initializeCursor.ts";
import { isBookingComplete } from "../store/bookMovements.ts";
import { readBranch, type Branch, type BranchQuery } from "./readBranch.ts";
import { catchUp } from "../catchUp/catchUp.ts";
import { confirmFinality } from "./confirmFinality.ts";
import { enqueueRecheck } from "../reread/recheckSuspectBlocks.ts";
import { getChainMemory } from "../chainMemory.ts";
import { locateInboxTransfers, applySegment, type WatchWorld } from "../store/applySegment.ts";
import { reconcileCursor } from "./reconcileCursor.ts";
import { pollProviders } from "../providers/pollProviders.ts";
import { rereadFinal } from "../reread/rereadFinal.ts";
import { logCaughtUp } from "../catchUp/logCatchUp.ts";
import { findCursor, listKnownBlocks, type CursorRow } from "../store/store.ts";

export type WatchOutcome = {
  /** The last block that is recorded. */
  advancedTo: bigint;
  /** Whether more of the chain is there to be read or to be booked at once. */
  isBehind: boolean;
};

/** Without a new block the cursor's time is still renewed this often, and finality asked for: whoever reads it knows that we look. */
const HEARTBEAT_MS = 5_000;
/** So many blocks one provider may replace by himself. */
const SHALLOW_REORG_BLOCKS = 2n;
/** How long one rests whose reorg the others do not know. */
const COOLDOWN_MS = 60_000;
/** A provider that has told of no new block for so long may be stuck, and another one is asked for the head. */
const STALL_MS = 30_000;

/**
 * Looks at a chain once, and records what is new: blocks, movements into and out of inboxes, what a reorg took back, and how final
 * it all is. Bounded, and safe in any number of processes. Throws ProviderFailed when no provider answered wholly (try again later),
 * and ChainMismatch when the chain is not the one that was recorded (a person must look).
 */
export async function watchChain(world: WatchWorld, chain: Chain): Promise<WatchOutcome> {
  const cursor = await loadCursor(world, chain);
  try {
    return await syncChain(world, chain, cursor);
  } catch (error) {
    if (!(error instanceof ProviderFailed && error.kind === "unknown_block")) throw error;
    // Near the head this is everyday: a node behind the same name is a block behind, or changes its branch just now.
    world.log.debug({ chain: chain.caip2, err: error }, "the providers' answers do not fit together yet");
    return { advancedTo: cursor.number, isBehind: false };
  }
}

async function syncChain(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<WatchOutcome> {
  const reconciled = await reconcileCursor(world, chain, cursor);
  if (reconciled) return { advancedTo: reconciled.number, isBehind: true };
  const { branch, provider } = await pollBranch(world, chain, cursor);
  if (!(await isReorgAccepted(world, chain, { cursor, branch, provider }))) {
    return { advancedTo: cursor.number, isBehind: false };
  }
  logReorg(world, chain, { cursor, branch });
  const isMoved = await applyBranch(world, chain, { cursor, branch });
  const now = isMoved ? await loadCursor(world, chain) : cursor;
  const isBehind = now.number < branch.head.number;
  if (!isBehind) logCaughtUp(world, chain, now.number);
  // A head that we have passed comes from a provider that lags, and its word on finality is as old; but where another one tells of
  // blocks as they come, that one may lag for ever, and finality is asked of all of them.
  const memory = getChainMemory(world, chain);
  const isHeartbeatDue = world.clock.now() >= addMs(cursor.updated_at, HEARTBEAT_MS);
  // Whatever was left of the books, by this process or another, is taken up here.
  const isBookingBehind = !isBookingComplete(world, now);
  const isDue =
    memory.isFinalityDue || isBookingBehind || ((isMoved || isHeartbeatDue) && branch.head.number >= cursor.number);
  const confirmed = isDue ? await confirmFinality(world, chain, now) : now;
  if (isDue) memory.isFinalityDue = false;
  // After an outage there is as much to read again as was missed, and as much to book, and nothing to wait for in between.
  const isBooking = confirmed.booked_number > now.booked_number && !isBookingComplete(world, confirmed);
  const hasMore = isBehind || (await rereadFinal(world, chain, confirmed)) || isBooking;
  return { advancedTo: now.number, isBehind: hasMore };
}

type PolledBranch = { branch: Branch; provider: string };

async function pollBranch(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<PolledBranch> {
  const question: BranchQuery = {
    chain: chain.caip2,
    cursor,
    tokens: watchedTokens(world.catalog, chain.caip2),
    knownBlocks: (upTo, limit) => listKnownBlocks(world.db, { chain: chain.caip2, upTo, limit }),
    locate: (reader, transfers) => locateInboxTransfers(world, reader, transfers),
  };
  const memory = getChainMemory(world, chain);
  const isStalled = world.clock.monotonicMs() - memory.lastBlockAtMs > STALL_MS;
  const work = async (reader: ChainReader): Promise<PolledBranch> => ({
    branch: await readBranch(reader, question),
    provider: reader.name,
  });
  const news = await (isStalled ? chain.providers.askInReverseOrder(work) : chain.providers.ask(work));
  if (news.branch.kind !== "still") memory.lastBlockAtMs = world.clock.monotonicMs();
  return news;
}

/**
 * A few blocks are replaced every day, and by one provider's word. More of them are given up only when those who object to what is recorded
 * outnumber those who still have it; where nobody has it any more there is nothing to weigh.
 */
async function isReorgAccepted(
  world: WatchWorld,
  chain: Chain,
  { cursor, branch, provider }: PolledBranch & { cursor: CursorRow },
): Promise<boolean> {
  if (branch.kind === "still" || cursor.number - branch.ancestor.number <= SHALLOW_REORG_BLOCKS) return true;
  if (chain.providers.providerCount < 2) return true;
  const comparisons = await pollProviders(world, chain, cursor);
  const agreeing = comparisons.filter((opinion) => opinion.kind === "agrees").length;
  const differing = comparisons.filter((opinion) => opinion.kind === "differs").length;
  if (agreeing === 0 || differing > agreeing) return true;
  chain.providers.coolDown(provider, COOLDOWN_MS);
  world.log.error(
    {
      alarm: "reorg_refused",
      chain: chain.caip2,
      provider,
      from: String(cursor.number),
      ancestor: String(branch.ancestor.number),
    },
    "a provider replaces many blocks that others still have, and is set aside",
  );
  return false;
}

/** Takes over what was read. Whether anything happened. */
async function applyBranch(
  world: WatchWorld,
  chain: Chain,
  { cursor, branch }: { cursor: CursorRow; branch: Branch },
): Promise<boolean> {
  switch (branch.kind) {
    case "still":
      return false;
    case "near": {
      const { ancestor, blocks, located, suspects } = branch;
      const to = blocks.at(-1) ?? ancestor;
      const stretch = { from: cursor, ancestorNumber: ancestor.number, to, blocks, located };
      if (!(await applySegment(world, chain, stretch))) return false;
      enqueueRecheck(world, chain, suspects);
      return true;
    }
    case "far": {
      const { ancestor, head } = branch;
      if (ancestor.number < cursor.number) {
        const stretch = { from: cursor, ancestorNumber: ancestor.number, to: ancestor, blocks: [], located: [] };
        if (!(await applySegment(world, chain, stretch))) return false;
      }
      await catchUp(world, chain, { cursor: ancestor, headNumber: head.number });
      return true;
    }
  }
}

/** The chain's cursor; a chain that is new here begins at its present head. Throws ChainMismatch when another chain was recorded. */
async function loadCursor(world: WatchWorld, chain: Chain): Promise<CursorRow> {
  const { genesisHash } = await chain.providers.identify();
  const memory = getChainMemory(world, chain);
  const remembered = memory.cursor;
  let cursor = await findCursor(world.db, chain.caip2);
  if (!cursor) {
    await initializeCursor(world, chain, genesisHash);
    cursor = await findCursor(world.db, chain.caip2);
  }
  if (cursor?.genesis_hash !== genesisHash) {
    throw new ChainMismatch(
      `${chain.caip2} begins with block ${genesisHash}, but this database recorded a chain that begins with ${cursor?.genesis_hash}: use the chain it knows, or another database.`,
    );
  }
  // What was recorded while this was read is newer.
  if (memory.cursor === remembered) memory.cursor = cursor;
  return cursor;
}

function logReorg(world: WatchWorld, chain: Chain, { cursor, branch }: { cursor: CursorRow; branch: Branch }): void {
  if (branch.kind === "still" || branch.ancestor.number >= cursor.number) return;
  const facts = { chain: chain.caip2, from: String(cursor.number), ancestor: String(branch.ancestor.number) };
  if (branch.ancestor.number < cursor.finalized_number) {
    world.log.error({ ...facts, finalized: String(cursor.finalized_number) }, "final blocks were replaced");
  } else world.log.warn(facts, "the chain replaced blocks");
}
