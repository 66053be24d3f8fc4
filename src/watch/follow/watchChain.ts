import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, readAllHeads, type ChainReader } from "../../chain/reader.ts";
import { ChainMismatch, type ToldHeads } from "../../chain/providers.ts";
import { hasElapsed } from "../../kernel/clock.ts";
import { followedChain } from "./followedChain.ts";
import { initializeCursor } from "./initializeCursor.ts";
import { isBookingComplete } from "../store/bookMovements.ts";
import { readBranch, type Branch, type BranchQuery } from "./readBranch.ts";
import { catchUp } from "../catchUp/catchUp.ts";
import { confirmFinality, isFinalityDue } from "./confirmFinality.ts";
import { enqueueRecheck } from "../reread/recheckSuspectBlocks.ts";
import { blocksIn, DEEPEST_REORG, nearBlocks, refreshBlockTime, SHALLOW_REORG } from "../blockTime.ts";
import { locateInboxTransfers } from "../inboxes/locateTransfers.ts";
import { recordMovements } from "../record/recordMovements.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { reconcileCursor } from "./reconcileCursor.ts";
import { pollProviders } from "../providers/pollProviders.ts";
import { trackConsistency } from "../providers/trackConsistency.ts";
import { rereadFinal } from "../reread/rereadFinal.ts";
import { logCaughtUp } from "../catchUp/logCatchUp.ts";
import { listKnownBlocks } from "../store/chainReads.ts";
import { findCursor, type CursorRow } from "../store/store.ts";
import { skipUnreadable } from "../unreadable/acceptUnreadable.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

export type WatchOutcome = {
  /** The last recorded block. */
  advancedTo: bigint;
  /** Whether more blocks can be read or booked at once. */
  isBehind: boolean;
};

/** Without new blocks, the cursor's time and finality are still updated this often, which shows a working scanner. */
const HEARTBEAT_MS = 5_000;
/** Cooldown of a provider whose reorg the others do not have. */
const COOLDOWN_MS = 60_000;
/** After this long without a new block the provider may be stuck, and another one reports the head. */
const STALL_MS = 30_000;

/**
 * Polls a chain once and records blocks, inbox movements, orphaned blocks and finality. Bounded, and safe in any number
 * of processes. Throws ProviderFailed when no provider gave a complete answer (retry later). Throws ChainMismatch when
 * the chain is not the recorded one (an operator must act).
 */
export async function watchChain(world: WatchWorld, chain: Chain): Promise<WatchOutcome> {
  skipUnreadable(world, chain);
  const cursor = await loadCursor(world, chain);
  try {
    return await syncChain(world, chain, cursor);
  } catch (error) {
    if (!(error instanceof ProviderFailed && error.kind === "unknown_block")) throw error;
    // Common near the head: a node behind the same name lags by a block or is switching its branch. trackConsistency logs
    // what lasts.
    world.log.debug({ chain: chain.caip2, err: error }, "the providers' answers are not consistent yet");
    return { advancedTo: cursor.number, isBehind: false };
  }
}

async function syncChain(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<WatchOutcome> {
  const reconciled = await reconcileCursor(world, chain, cursor);
  if (reconciled) return { advancedTo: reconciled.number, isBehind: true };
  const { branch, provider, told } = await pollBranch(world, chain, cursor);
  if (!(await isReorgAccepted(world, chain, { cursor, branch, provider }))) {
    return { advancedTo: cursor.number, isBehind: false };
  }
  logReorg(world, chain, { cursor, branch });
  const isMoved = await applyBranch(world, chain, { cursor, branch });
  const now = isMoved ? await loadCursor(world, chain) : cursor;
  const isBehind = now.number < branch.head.number;
  if (!isBehind) logCaughtUp(world, chain, now.number);
  // A head below the cursor comes from a lagging provider with outdated finality. Where another provider pushes blocks,
  // the first may lag permanently, so they are booked whatever it says.
  const followed = followedChain(world, chain);
  const isHeartbeatDue = hasElapsed(HEARTBEAT_MS, { since: cursor.updated_at, now: world.clock.now() });
  // Any process completes bookings that another one left.
  const isBookingBehind = !(await isBookingComplete(world, now));
  const isDue =
    followed.isBookingDue || isBookingBehind || ((isMoved || isHeartbeatDue) && branch.head.number >= cursor.number);
  const confirmed = isDue ? await confirmFinality(world, chain, { cursor: now, told }) : now;
  if (isDue) followed.isBookingDue = false;
  // After an outage much is left to reread and to book, so the next poll starts at once.
  const isBooking = confirmed.booked_number > now.booked_number && !(await isBookingComplete(world, confirmed));
  const hasMore = isBehind || (await rereadFinal(world, chain, confirmed)) || isBooking;
  return { advancedTo: now.number, isBehind: hasMore };
}

/** `told`: the final heads that the provider told with its newest one. */
type PolledBranch = { branch: Branch; provider: string; told: ToldHeads | undefined };

async function pollBranch(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<PolledBranch> {
  const query: BranchQuery = {
    chain: chain.caip2,
    detection: chain.detection,
    cursor,
    tokens: watchedTokens(world.catalog, chain.caip2),
    near: nearBlocks(world, chain),
    deepestReorg: blocksIn(world, chain, DEEPEST_REORG),
    knownBlocks: (upTo, limit) => listKnownBlocks(world.db, { chain: chain.caip2, upTo, limit }),
    locate: (reader, transfers) => locateInboxTransfers(world, reader, transfers),
  };
  const followed = followedChain(world, chain);
  const isStalled = world.clock.monotonicMs() - followed.lastBlockAtMs > STALL_MS;
  const isWhole = await isFinalityDue(world, chain, cursor);
  const work = async (reader: ChainReader): Promise<PolledBranch> => {
    const { name: provider } = reader;
    const heads = isWhole ? await readAllHeads(reader) : undefined;
    const branch = await readBranch(reader, { ...query, head: heads?.latest });
    return { branch, provider, told: heads && { provider, heads } };
  };
  const isConclusive = ({ branch: { kind, head } }: PolledBranch) => kind !== "unchanged" || head.hash === cursor.hash;
  const tracked = trackConsistency(world, chain, { reading: "new blocks", work, isConclusive });
  const news = await (isStalled ? chain.providers.runLastFirst(tracked) : chain.providers.run(tracked));
  if (news.branch.kind !== "unchanged") followed.lastBlockAtMs = world.clock.monotonicMs();
  await refreshBlockTime(world, chain, news.branch.head);
  return news;
}

/**
 * One provider may replace a few blocks, which happens daily. A deeper reorg needs more providers that differ from our
 * chain than agree with it. It is also accepted when no provider agrees with our chain.
 */
async function isReorgAccepted(
  world: WatchWorld,
  chain: Chain,
  { cursor, branch, provider }: Omit<PolledBranch, "told"> & { cursor: CursorRow },
): Promise<boolean> {
  if (branch.kind === "unchanged" || cursor.number - branch.ancestor.number <= blocksIn(world, chain, SHALLOW_REORG))
    return true;
  if (chain.providers.providerCount < 2) return true;
  const comparisons = await pollProviders(world, chain, cursor);
  const agreeing = comparisons.filter((comparison) => comparison.kind === "agrees").length;
  const differing = comparisons.filter((comparison) => comparison.kind === "differs").length;
  if (agreeing === 0 || differing > agreeing) return true;
  chain.providers.coolDown(provider, COOLDOWN_MS);
  raiseAlarm(
    world.log,
    {
      alarm: "reorg_refused",
      chain: chain.caip2,
      provider,
      from: String(cursor.number),
      ancestor: String(branch.ancestor.number),
    },
    "a provider replaced many blocks that others still have; cooldown started",
  );
  return false;
}

/** Applies a branch. Returns whether anything changed. */
async function applyBranch(
  world: WatchWorld,
  chain: Chain,
  { cursor, branch }: { cursor: CursorRow; branch: Branch },
): Promise<boolean> {
  switch (branch.kind) {
    case "unchanged":
      return false;
    case "contiguous": {
      const { ancestor, blocks, located, suspects } = branch;
      const to = blocks.at(-1) ?? ancestor;
      const segment = { from: cursor, ancestorNumber: ancestor.number, to, blocks, located };
      if (!(await recordMovements(world, chain, { kind: "segment", ...segment }))) return false;
      enqueueRecheck(world, chain, suspects);
      return true;
    }
    case "gap": {
      const { ancestor, head } = branch;
      if (ancestor.number < cursor.number) {
        const segment = { from: cursor, ancestorNumber: ancestor.number, to: ancestor, blocks: [], located: [] };
        if (!(await recordMovements(world, chain, { kind: "segment", ...segment }))) return false;
      }
      await catchUp(world, chain, { cursor: ancestor, headNumber: head.number });
      return true;
    }
  }
}

/** The chain's cursor; a new chain starts at its current head. Throws ChainMismatch when another chain is recorded. */
async function loadCursor(world: WatchWorld, chain: Chain): Promise<CursorRow> {
  const { genesisHash } = await chain.providers.identify();
  const followed = followedChain(world, chain);
  const remembered = followed.cursor;
  let cursor = await findCursor(world.db, chain.caip2);
  if (!cursor) {
    await initializeCursor(world, chain);
    cursor = await findCursor(world.db, chain.caip2);
  }
  if (cursor === undefined) throw new Error(`${chain.caip2} has no cursor after its start`);
  // Without the first block, the recorded blocks tell chains apart: readBranch requires that the provider has one of
  // them.
  const isKnown = genesisHash !== undefined && cursor.genesis_hash !== null;
  if (isKnown && cursor.genesis_hash !== genesisHash) {
    throw new ChainMismatch(
      `${chain.caip2} begins with block ${genesisHash}, but this database recorded a chain that begins with ${cursor.genesis_hash}: use the chain it knows, or another database.`,
    );
  }
  // A cursor that was set during this read is newer.
  if (followed.cursor === remembered) followed.cursor = cursor;
  return cursor;
}

function logReorg(world: WatchWorld, chain: Chain, { cursor, branch }: { cursor: CursorRow; branch: Branch }): void {
  if (branch.kind === "unchanged" || branch.ancestor.number >= cursor.number) return;
  const facts = { chain: chain.caip2, from: String(cursor.number), ancestor: String(branch.ancestor.number) };
  if (branch.ancestor.number < cursor.finalized_number) {
    world.log.error({ ...facts, finalized: String(cursor.finalized_number) }, "final blocks were replaced");
  } else world.log.warn(facts, "the chain replaced blocks");
}
