import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { FinalityTier } from "../../config/config.ts";
import type { BlockRange } from "../../chain/reader.ts";
import { listAges } from "../finality.ts";
import { blocksIn, DEEPEST_REORG, PROVIDER_LAG, type BlockSpan } from "../blockTime.ts";
import { comparedProviders } from "../providers/headHold.ts";
import { findLowestPostponed } from "../postponed/postponedStore.ts";
import { rereadPace, rereadRange } from "./rereadRange.ts";
import { recordMovements, type RereadChanges } from "../record/recordMovements.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { listMovementsBetween } from "../store/chainReads.ts";
import type { CursorRow } from "../store/store.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";
import { lowestOf } from "../../kernel/extremes.ts";

/** Headers that are kept at most, of about 200 bytes each. */
const KEPT_MAX = 40_000;
/** Final blocks that are reread together. */
const GATHERED: BlockSpan = { ms: 15_000, min: 1, max: 75 };
/** Depth at which blocks of a chain without the `finalized` tag are reread. */
const DEPTH_WITHOUT_TAG: BlockSpan = { ms: 2_048_000, min: 64, max: 16_384 };

/** When final blocks were last read a second time, on the monotonic clock. */
export const lastReread = perChain(() => ({ atMs: -Infinity }));

/**
 * Rereads the next final blocks, from another provider where there is one, with the database matching inboxes. Corrects
 * missing logs, inboxes that were not in memory, and movements that do not exist. Returns whether more blocks can be
 * reread at once.
 */
export async function rereadFinal(world: WatchWorld, chain: Chain, cursor: CursorRow): Promise<boolean> {
  const config = findWatchedChain(world.catalog, chain.caip2);
  const providers = neededReadings(world, chain);
  const finalUpTo = computeRereadLimit(world, chain, cursor);
  if (finalUpTo <= cursor.reread_number) return false;
  // What waits on purpose is not missing.
  const postponed = await findLowestPostponed(world.db, chain.caip2);
  const upTo = postponed === undefined ? finalUpTo : lowestOf(finalUpTo, postponed - 1n);
  const range = nextRange(world, chain, { cursor, upTo });
  if (!range) return false;
  const recorded = await listMovementsBetween(world.db, { chain: chain.caip2, ...range });
  const isWaiting = recorded.length > 0 || range.toBlock < upTo;
  if (!isWaiting && !isRangeDue(world, chain, range)) return false;
  const changes = await rereadRange(world, chain, { range, recorded, providers });
  if (!changes) return false;
  lastReread(world, chain).atMs = world.clock.monotonicMs();
  logChanges(world, chain, changes);
  // A block that a single provider reports may be false: blocks are kept for a rewind until others are compared.
  const mayPrune = chain.providers.providerCount < 2 || comparedProviders(world, chain).hasMultipleReplies;
  const pruneBelow = mayPrune ? cursor.number - keptBlocks(world, chain, config?.finality ?? []) : undefined;
  const reread = { kind: "reread", from: cursor, toBlock: range.toBlock, pruneBelow, ...changes } as const;
  const written = await recordMovements(world, chain, reread);
  const isPassed = !changes.isDisputed && written?.standing.length === changes.located.length;
  return isPassed && range.toBlock < upTo;
}

/**
 * Whether blocks that hold nothing of ours, as far as we know, are reread now. Together they cost as much as one of
 * them, so they wait for each other, on a chain with short blocks most of all.
 */
function isRangeDue(world: WatchWorld, chain: Chain, { fromBlock, toBlock }: BlockRange): boolean {
  const waitedMs = world.clock.monotonicMs() - lastReread(world, chain).atMs;
  return waitedMs >= GATHERED.ms || toBlock - fromBlock + 1n >= blocksIn(world, chain, GATHERED);
}

/** The readings that must agree on a change. */
function neededReadings(world: WatchWorld, chain: Chain): number {
  const required = findWatchedChain(world.catalog, chain.caip2)?.agreement?.providers ?? 1;
  return Math.min(required, chain.providers.providerCount);
}

/**
 * The last block that may be read the second time. With a single provider, not the blocks that an honest one may lack:
 * behind a load balancer the node that answers logs may lag, and return nothing for blocks that another node calls
 * final.
 */
export function computeRereadLimit(world: WatchWorld, chain: Chain, cursor: CursorRow): bigint {
  const { number, finalized_number: finalizedNumber } = cursor;
  if (finalizedNumber < 0n) return number - blocksIn(world, chain, DEPTH_WITHOUT_TAG);
  if (neededReadings(world, chain) > 1) return finalizedNumber;
  return lowestOf(finalizedNumber, number - blocksIn(world, chain, PROVIDER_LAG));
}

/**
 * How many blocks below the cursor stay known: as deep as a reorg may be, and as old as a rule in seconds asks, with a
 * reserve.
 */
function keptBlocks(world: WatchWorld, chain: Chain, tiers: readonly FinalityTier[]): bigint {
  const oldestMs = Math.max(0, ...listAges(tiers)) * 2_000;
  return blocksIn(world, chain, { ...DEEPEST_REORG, ms: Math.max(DEEPEST_REORG.ms, oldestMs), max: KEPT_MAX });
}

function nextRange(
  world: WatchWorld,
  chain: Chain,
  { cursor, upTo }: { cursor: CursorRow; upTo: bigint },
): BlockRange | undefined {
  const fromBlock = cursor.reread_number + 1n;
  if (fromBlock > upTo) return undefined;
  const { blocks } = rereadPace(world, chain).size;
  return { fromBlock, toBlock: lowestOf(upTo, fromBlock + blocks - 1n) };
}

function logChanges(world: WatchWorld, chain: Chain, { located, removed }: RereadChanges): void {
  for (const { chainTx, place, inbox } of located) {
    world.log.error(
      { chain: chain.caip2, chainTx, place: String(place), inbox },
      "a final block holds a movement that was not recorded",
    );
  }
  for (const { id, chain_tx: chainTx, inbox, intent_id: intent, direction } of removed) {
    const fields = { chain: chain.caip2, movement: String(id), chainTx, inbox, intent };
    const message = "a recorded movement is not on the final chain";
    if (direction === "out") raiseAlarm(world.log, { ...fields, alarm: "sweep_denied" }, message);
    else world.log.error(fields, message);
  }
}
