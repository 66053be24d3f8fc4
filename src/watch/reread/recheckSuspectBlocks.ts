import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import {
  ProviderFailed,
  type BlockRef,
  type BlocksWithTransfers,
  type ChainReader,
  type Transfer,
} from "../../chain/reader.ts";
import { ONLY_ARRIVALS, searchTransfers } from "../search/searchTransfers.ts";
import type { WatchWorld } from "../watchWorld.ts";

// A node may have a block shortly before its logs, and then answers with none. The header shows that: a digest that
// matches a watched token makes an answer without that token suspect. The block is recorded all the same, because a
// digest has false positives and later blocks must not wait. It is rechecked a few times, and reread when it is final.
// A single provider may omit a log each time, so its last recheck is thorough: it reads another record of the provider.
// The comparison of balances finds what even that does not.

/** Delay of each recheck after the previous answer, in milliseconds. */
const RETRY_DELAYS_MS = [50, 500, 3_000] as const;
const LAST_ATTEMPT = RETRY_DELAYS_MS.length - 1;
/** Above this number the oldest are dropped; rereading covers them when they are final. */
const SUSPECT_BLOCKS_MAX = 64;
/**
 * Blocks per minute that hold other watched tokens: busy blocks set most bits of their digest, so most of these are
 * false positives.
 */
const PARTLY_EMPTY_PER_MINUTE_MAX = 30;
/** Thorough rechecks per minute. Each may take a megabyte. */
const THOROUGH_PER_MINUTE_MAX = 12;
const MINUTE_MS = 60_000;
/** Blocks rechecked concurrently. */
const CONCURRENT_RECHECKS_MAX = 8;

/** A block without transfers of a token although its header indicates some, and the provider that returned it. */
type SuspectBlock = { block: BlockRef; provider: string; attempts: number; dueAtMs: number };

/**
 * The blocks to recheck, by hash, and when the last rechecks were queued and the last thorough ones ran, on the
 * monotonic clock.
 */
export const recheckQueue = perChain(() => ({
  suspectBlocks: new Map<string, SuspectBlock>(),
  partlyEmptyAtMs: Array<number>(),
  thoroughAtMs: Array<number>(),
}));

export type BlockTransfers = { block: BlockRef; transfers: readonly Transfer[] };

/** Blocks that were read together, one by one. */
export function groupByBlock({ blocks, transfers }: BlocksWithTransfers): BlockTransfers[] {
  const transfersOf = Map.groupBy(transfers, ({ blockHash }) => blockHash);
  return blocks.map((block) => ({ block, transfers: transfersOf.get(block.hash) ?? [] }));
}

/** A block without transfers of a token that its header indicates. `isEmpty`: it has none of any watched token. */
export type FoundSuspect = { block: BlockRef; provider: string; isEmpty: boolean };

/** The blocks that lack a token which their headers indicate, by the provider that reported both. */
export function findSuspectBlocks(
  reader: ChainReader,
  readings: readonly BlockTransfers[],
  tokens: readonly string[],
): FoundSuspect[] {
  return readings.flatMap(({ block, transfers }) => {
    const present = new Set(transfers.map(({ token }) => token));
    const isSuspect = tokens.some(
      (token) => !present.has(token) && reader.mayContainTransfers?.(block, [token]) === true,
    );
    return isSuspect ? [{ block, provider: reader.name, isEmpty: transfers.length === 0 }] : [];
  });
}

/** Queues suspect blocks for a recheck. A block with transfers of other tokens is rechecked once. */
export function enqueueRecheck(
  world: Pick<WatchWorld, "clock" | "wake" | "memory">,
  chain: Chain,
  suspects: readonly FoundSuspect[],
): void {
  const { suspectBlocks, partlyEmptyAtMs } = recheckQueue(world, chain);
  const nowMs = world.clock.monotonicMs();
  for (const { block, provider, isEmpty } of suspects) {
    if (!isEmpty && !takeFrom(partlyEmptyAtMs, { nowMs, perMinute: PARTLY_EMPTY_PER_MINUTE_MAX })) continue;
    const attempts = isEmpty ? 0 : LAST_ATTEMPT;
    const dueAtMs = nowMs + (RETRY_DELAYS_MS[attempts] ?? 0);
    suspectBlocks.set(block.hash, { block, provider, attempts, dueAtMs });
  }
  if (suspectBlocks.size === 0) return;
  for (const hash of suspectBlocks.keys()) {
    if (suspectBlocks.size <= SUSPECT_BLOCKS_MAX) break;
    suspectBlocks.delete(hash);
  }
  world.wake.notify(recheckTopic(chain));
}

/** Waits until a suspect block is due, and rechecks all that are. Returns whether suspect blocks remain. */
export async function recheckSuspectBlocks(
  world: WatchWorld,
  chain: Chain,
  signal: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  const { suspectBlocks } = recheckQueue(world, chain);
  if (suspectBlocks.size === 0) return false;
  const dueAtMs = Math.min(...[...suspectBlocks.values()].map((suspect) => suspect.dueAtMs));
  const timeoutMs = dueAtMs - world.clock.monotonicMs();
  if (timeoutMs > 0) await world.wake.wait(recheckTopic(chain), { timeoutMs, signal });
  if (signal.aborted) return false;
  const nowMs = world.clock.monotonicMs();
  const due = [...suspectBlocks.values()]
    .filter((suspect) => suspect.dueAtMs <= nowMs)
    .slice(0, CONCURRENT_RECHECKS_MAX);
  await Promise.all(due.map((suspect) => recheckBlock(world, chain, suspect)));
  return suspectBlocks.size > 0;
}

/** Reads one block again, from another provider or another record where there is one, and records its transfers. */
async function recheckBlock(world: WatchWorld, chain: Chain, suspect: SuspectBlock): Promise<void> {
  const { suspectBlocks, thoroughAtMs } = recheckQueue(world, chain);
  const { block, provider } = suspect;
  const nowMs = world.clock.monotonicMs();
  const isLast = suspect.attempts >= LAST_ATTEMPT;
  scheduleNextAttempt(suspectBlocks, suspect, nowMs);
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const scope = { blockHash: block.hash, blockNumber: block.number };
  const isThorough =
    isLast &&
    chain.providers.providerCount === 1 &&
    takeFrom(thoroughAtMs, { nowMs, perMinute: THOROUGH_PER_MINUTE_MAX });
  try {
    const { recorded, readCount } = await searchTransfers(world, chain, {
      read: (reader) =>
        isThorough && reader.recheckTransfers
          ? reader.recheckTransfers(scope, tokens)
          : reader.transfers(scope, tokens),
      from: "last",
      required: chain.providers.providerCount > 1 ? ONLY_ARRIVALS : { in: 1, out: 1 },
    });
    if (readCount === 0) return;
    suspectBlocks.delete(block.hash);
    if (recorded.length === 0) return;
    const facts = { chain: chain.caip2, provider, block: String(block.number), recorded: recorded.length };
    world.log.warn(facts, "a provider returned a block without all its logs; a recheck found them");
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    world.log.debug({ chain: chain.caip2, err: error }, "the recheck of a suspect block failed");
  }
}

/** Whether fewer than `perMinute` were taken in the last minute; takes one then. */
function takeFrom(takenAtMs: number[], { nowMs, perMinute }: { nowMs: number; perMinute: number }): boolean {
  while (takenAtMs[0] !== undefined && takenAtMs[0] <= nowMs - MINUTE_MS) takenAtMs.shift();
  return takenAtMs.length < perMinute && takenAtMs.push(nowMs) > 0;
}

/** After the last recheck an empty answer stands until the block is final. */
function scheduleNextAttempt(suspectBlocks: Map<string, SuspectBlock>, suspect: SuspectBlock, nowMs: number): void {
  suspect.attempts += 1;
  const pauseMs = RETRY_DELAYS_MS[suspect.attempts];
  if (pauseMs === undefined) suspectBlocks.delete(suspect.block.hash);
  else suspect.dueAtMs = nowMs + pauseMs;
}

/** Wakes the recheck. */
export function recheckTopic({ caip2 }: Pick<Chain, "caip2">): string {
  return `doubts:${caip2}`;
}
