import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, secondsBetween, type BlockRef } from "../chain/reader.ts";
import type { Agreement } from "../health/compareWithCursor.ts";
import { sampleChains, type ChainSample, type ProviderSample } from "../health/sampleChain.ts";
import { findCatchUpStart } from "../watch/catchUp/logCatchUp.ts";
import type { CursorRow } from "../watch/store/store.ts";
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
  agreement: Agreement | null;
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
  const samples = await sampleChains(world, { isCompared: true, withoutGas: true });
  return Promise.all(samples.map((sample) => toWatchStatus(world, sample)));
}

async function toWatchStatus(world: World, sample: ChainSample): Promise<WatchStatus> {
  const { chain, config, cursor, head, lagBlocks } = sample;
  return {
    chain: chain.caip2,
    chainName: config.name,
    isWatched: sample.isScanned,
    scannedAt: cursor?.updated_at.toISOString() ?? null,
    reportedAt: sample.at.toISOString(),
    recordedBlock: formatBlock(cursor?.number),
    catchUpStartBlock: formatBlock(findCatchUpStart(world, chain)),
    headBlock: formatBlock(head?.number),
    behindBlocks: formatBlock(lagBlocks !== undefined && lagBlocks < 0n ? 0n : lagBlocks),
    behindMs: cursor && head ? await readLagMs(chain, cursor, head) : null,
    safeBlock: formatBlock(cursor?.safe_number),
    finalBlock: formatBlock(cursor?.finalized_number),
    rereadBlock: formatBlock(cursor?.reread_number),
    bookedBlock: formatBlock(cursor?.booked_number),
    providers: sample.providers.map(toProviderStatus),
  };
}

async function readLagMs(chain: Chain, cursor: CursorRow, head: BlockRef): Promise<number | null> {
  if (head.number <= cursor.number) return 0;
  try {
    const recorded = await chain.providers.block({ number: cursor.number });
    const lagS = recorded && secondsBetween(recorded, head);
    return lagS === undefined ? null : Math.max(0, lagS) * 1_000;
  } catch (error) {
    if (error instanceof ProviderFailed) return null;
    throw error;
  }
}

function toProviderStatus({ name, head, error, agreement }: ProviderSample): ProviderStatus {
  if (error === undefined)
    return { name, headBlock: formatBlock(head?.number), error: null, agreement: agreement ?? null };
  // Driver errors begin with the provider's name, which the output already shows.
  const message = error.startsWith(`${name} `) ? error.slice(name.length + 1) : error;
  const shown = message.length > ERROR_CHARACTERS_MAX ? `${message.slice(0, ERROR_CHARACTERS_MAX)}…` : message;
  return { name, headBlock: null, error: shown, agreement: null };
}

/** The database stores an unknown block as a negative number. */
function formatBlock(number: bigint | undefined): string | null {
  return number === undefined || number < 0n ? null : String(number);
}
