import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainDriver } from "../chain/driver.ts";
import type { ChainConfig } from "../config/config.ts";
import { NEAR_BLOCKS } from "../watch/follow/readBranch.ts";
import { isScannerHealthy } from "../watch/scannerHealth.ts";
import type { ProviderComparison } from "../watch/providers/pollProviders.ts";
import { listCursors, type CursorRow } from "../watch/store/store.ts";
import { findCatchUpStart } from "../watch/catchUp/logCatchUp.ts";
import type { World } from "../world.ts";

export type ProviderStatus = {
  name: string;
  /** Null when it does not answer; `trouble` says why then. */
  headBlock: string | null;
  trouble: string | null;
  /**
   * How it stands to what is recorded: it has the same block there, another one, or ends far below it. Null where it cannot be told. One that
   * does not agree holds up what websockets tell of, as long as it moves.
   */
  opinion: ProviderComparison["kind"] | null;
};

/** Characters of a provider's trouble; refusals can quote whole pages. */
const ERROR_CHARACTERS_MAX = 120;

/** How far one chain is read. Blocks are numbers as texts, times are ISO 8601; null is what nobody knows. */
export type WatchStatus = {
  chain: string;
  chainName: string;
  /** Whether any process looks at it. */
  isWatched: boolean;
  /** When it was last looked at, or moved. */
  lookedAt: string | null;
  /** When this was asked; the pace is what lies between two of them. */
  askedAt: string;
  recordedBlock: string | null;
  /** Where the catch-up began, where the process that was asked is the one that makes it. */
  begunBlock: string | null;
  /** The highest block that a provider tells of. */
  headBlock: string | null;
  behindBlocks: string | null;
  /** What lies between the two by the blocks' own times, in milliseconds. */
  behindMs: number | null;
  safeBlock: string | null;
  finalBlock: string | null;
  /** Up to here blocks were read a second time after they had become final. */
  rereadBlock: string | null;
  /** Up to here movements stand in the ledger. */
  bookedBlock: string | null;
  providers: ProviderStatus[];
};

/** How far every configured chain is read, by the database, and how far it is, by each of its providers. */
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
  const replies = await Promise.all(chain.drivers.map((driver) => queryHead(driver, cursor)));
  const now = world.clock.now();
  const head = replies
    .flatMap((each) => ("head" in each ? [each.head] : []))
    .reduce<BlockRef | undefined>((most, each) => (most && most.number >= each.number ? most : each), undefined);
  const behind = cursor && head ? head.number - cursor.number : undefined;
  return {
    chain: chain.caip2,
    chainName: config.name,
    isWatched: isScannerHealthy(cursor?.updated_at, { now, pollMs: config.pollMs }),
    lookedAt: cursor?.updated_at.toISOString() ?? null,
    askedAt: now.toISOString(),
    recordedBlock: formatBlock(cursor?.number),
    begunBlock: formatBlock(findCatchUpStart(chain)),
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
  | { name: string; head: BlockRef; opinion: ProviderStatus["opinion"] }
  | { name: string; message: string };

/** Asks one provider past everything that keeps account of how they do: who looks must not make one rest, nor fill the log. */
async function queryHead(driver: ChainDriver, cursor: CursorRow | undefined): Promise<HeadReply> {
  const { name } = driver;
  try {
    const head = await driver.head("latest");
    return { name, head, opinion: cursor === undefined ? null : await compareWithCursor(driver, cursor, head) };
  } catch (error) {
    if (error instanceof ProviderFailed) return { name, message: error.message };
    throw error;
  }
}

async function compareWithCursor(
  driver: ChainDriver,
  cursor: CursorRow,
  head: BlockRef,
): Promise<ProviderStatus["opinion"]> {
  if (head.number < cursor.number) return head.number + NEAR_BLOCKS < cursor.number ? "behind" : null;
  const block = head.number === cursor.number ? head : await driver.block({ number: cursor.number });
  if (block === undefined) return null;
  return block.hash === cursor.hash ? "agrees" : "differs";
}

function toProviderStatus(reply: HeadReply): ProviderStatus {
  const { name } = reply;
  if ("head" in reply) return { name, headBlock: String(reply.head.number), trouble: null, opinion: reply.opinion };
  // Drivers begin with the name, which stands beside it.
  const words = reply.message.startsWith(`${name} `) ? reply.message.slice(name.length + 1) : reply.message;
  const trouble = words.length > ERROR_CHARACTERS_MAX ? `${words.slice(0, ERROR_CHARACTERS_MAX)}…` : words;
  return { name, headBlock: null, trouble, opinion: null };
}

/** Below zero stands what was never said. */
function formatBlock(number: bigint | undefined): string | null {
  return number === undefined || number < 0n ? null : String(number);
}
