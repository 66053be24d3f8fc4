import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader } from "../chain/reader.ts";
import type { ChainConfig } from "../config/config.ts";
import { blocksIn, NEAR_HEAD } from "../watch/blockTime.ts";
import { isScannerHealthy } from "../watch/scannerHealth.ts";
import type { ProviderComparison } from "../watch/providers/pollProviders.ts";
import { listCursors, type CursorRow } from "../watch/store/store.ts";
import { findCatchUpStart } from "../watch/catchUp/logCatchUp.ts";
import type { World } from "../world.ts";

export type ProviderStatus = {
  name: string;
  /** Null when the provider does not answer; `error` then has the reason. */
  headBlock: string | null;
  error: string | null;
  /**
   * Comparison with the recorded chain: the same block at the cursor, a different one, or a head far below. Null when
   * unknown. A provider that does not agree delays blocks from WebSockets while its head moves.
   */
  agreement: ProviderComparison["kind"] | null;
};

/** Provider errors are cut to this length, because they may quote whole pages. */
const ERROR_CHARACTERS_MAX = 120;

/** The scan progress of one chain. Block numbers are strings, times are ISO 8601, null means unknown. */
export type WatchStatus = {
  chain: string;
  chainName: string;
  /** Whether a process watches the chain. */
  isWatched: boolean;
  /** Time of the last scan. */
  scannedAt: string | null;
  /** Time of this status. */
  reportedAt: string;
  recordedBlock: string | null;
  /** First block of the current catch-up; only known to the process that runs it. */
  catchUpStartBlock: string | null;
  /** The highest head of all providers. */
  headBlock: string | null;
  behindBlocks: string | null;
  /** Difference of the timestamps of head and recorded block, in milliseconds. */
  behindMs: number | null;
  safeBlock: string | null;
  finalBlock: string | null;
  /** Final blocks up to this number were read a second time. */
  rereadBlock: string | null;
  /** Movements up to this block are booked in the ledger. */
  bookedBlock: string | null;
  providers: ProviderStatus[];
};

/** Reads the scan progress of every chain from the database, and the heads from its providers. */
export async function getWatchStatus(world: World): Promise<WatchStatus[]> {
  const cursors = new Map((await listCursors(world.db)).map((cursor) => [cursor.chain, cursor]));
  return Promise.all(
    [...world.chains.values()].flatMap((chain) => {
      const config = findWatchedChain(world.catalog, chain.caip2);
      return config === undefined ? [] : [readChainStatus(world, { chain, config, cursor: cursors.get(chain.caip2) })];
    }),
  );
}

type ChainToQuery = { chain: Chain; config: ChainConfig; cursor: CursorRow | undefined };

async function readChainStatus(world: World, { chain, config, cursor }: ChainToQuery): Promise<WatchStatus> {
  const near = blocksIn(world, chain, NEAR_HEAD);
  const replies = await Promise.all(chain.readers.map((reader) => queryHead(reader, { cursor, near })));
  const now = world.clock.now();
  const head = replies
    .flatMap((each) => ("head" in each ? [each.head] : []))
    .reduce<BlockRef | undefined>((most, each) => (most && most.number >= each.number ? most : each), undefined);
  const behind = cursor && head ? head.number - cursor.number : undefined;
  return {
    chain: chain.caip2,
    chainName: config.name,
    isWatched: isScannerHealthy(cursor?.updated_at, { now, pollMs: config.pollMs }),
    scannedAt: cursor?.updated_at.toISOString() ?? null,
    reportedAt: now.toISOString(),
    recordedBlock: formatBlock(cursor?.number),
    catchUpStartBlock: formatBlock(findCatchUpStart(world, chain)),
    headBlock: formatBlock(head?.number),
    behindBlocks: formatBlock(behind !== undefined && behind < 0n ? 0n : behind),
    behindMs: cursor && head ? await readLagMs(chain, cursor, head) : null,
    safeBlock: formatBlock(cursor?.safe_number),
    finalBlock: formatBlock(cursor?.finalized_number),
    rereadBlock: formatBlock(cursor?.reread_number),
    bookedBlock: formatBlock(cursor?.booked_number),
    providers: replies.map(toProviderStatus),
  };
}

async function readLagMs(chain: Chain, cursor: CursorRow, head: BlockRef): Promise<number | null> {
  if (head.number <= cursor.number) return 0;
  try {
    const recorded = await chain.providers.block({ number: cursor.number });
    return recorded === undefined ? null : Math.max(0, head.timestampS - recorded.timestampS) * 1_000;
  } catch (error) {
    if (error instanceof ProviderFailed) return null;
    throw error;
  }
}

type HeadReply =
  | { name: string; head: BlockRef; agreement: ProviderStatus["agreement"] }
  | { name: string; message: string };

/**
 * Queries one provider directly, without the provider pool: a status query must not start a cooldown or write to the
 * log.
 */
async function queryHead(
  reader: ChainReader,
  { cursor, near }: { cursor: CursorRow | undefined; near: bigint },
): Promise<HeadReply> {
  const { name } = reader;
  try {
    const head = await reader.head("latest");
    const agreement = cursor === undefined ? null : await compareWithCursor(reader, { cursor, head, near });
    return { name, head, agreement };
  } catch (error) {
    if (error instanceof ProviderFailed) return { name, message: error.message };
    throw error;
  }
}

async function compareWithCursor(
  reader: ChainReader,
  { cursor, head, near }: { cursor: CursorRow; head: BlockRef; near: bigint },
): Promise<ProviderStatus["agreement"]> {
  if (head.number < cursor.number) return head.number + near < cursor.number ? "behind" : null;
  const block = head.number === cursor.number ? head : await reader.block({ number: cursor.number });
  if (block === undefined) return null;
  return block.hash === cursor.hash ? "agrees" : "differs";
}

function toProviderStatus(reply: HeadReply): ProviderStatus {
  const { name } = reply;
  if ("head" in reply) return { name, headBlock: String(reply.head.number), error: null, agreement: reply.agreement };
  // Driver errors begin with the provider's name, which the output already shows.
  const message = reply.message.startsWith(`${name} `) ? reply.message.slice(name.length + 1) : reply.message;
  const error = message.length > ERROR_CHARACTERS_MAX ? `${message.slice(0, ERROR_CHARACTERS_MAX)}…` : message;
  return { name, headBlock: null, error, agreement: null };
}

/** The database stores an unknown block as a negative number. */
function formatBlock(number: bigint | undefined): string | null {
  return number === undefined || number < 0n ? null : String(number);
}
