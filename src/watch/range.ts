import {
  ProviderFailed,
  type BlockRange,
  type BlockRef,
  type ChainDriver,
  type RangeSuggestion,
  type ReceiptPosition,
  type SiftedTransfers,
  type Sieve,
  type Transfer,
} from "../chain/driver.ts";
import { candidatesOf, placed, receiptsNeeded, type Sighting } from "./movement.ts";

export type RangeReading = { range: BlockRange; end: BlockRef; transfers: readonly Transfer[] };

/**
 * Reads a range and the block that ends it. Nodes answer a range that reaches beyond their head with an empty list, so the
 * end must be known to the provider that answered, and be the block in which the logs of its number stand.
 */
export async function readRange(
  driver: ChainDriver,
  range: BlockRange,
  tokens: readonly string[],
): Promise<RangeReading> {
  const [end, transfers] = await Promise.all([
    driver.block({ number: range.toBlock }),
    driver.transfers(range, tokens),
  ]);
  return { range, end: endOf(driver, { range, end, endHash: hashAt(range.toBlock, transfers) }), transfers };
}

export type SiftedRange = { range: BlockRange; end: BlockRef; sightings: readonly Sighting[]; logCount: number };
export type Known = Sieve & { has(address: string): boolean };

/** What a range holds that concerns the inboxes that are known here, in two questions: the logs, and then whatever belongs to those found. */
export async function siftRange(
  driver: ChainDriver,
  range: BlockRange,
  { tokens, known }: { tokens: readonly string[]; known: Known },
): Promise<SiftedRange> {
  const { transfers, logCount, endHash } = await sift(driver, range, { tokens, known });
  const candidates = candidatesOf(transfers, (address) => known.has(address));
  const { block, positions } = await blockWithPositions(driver, range.toBlock, receiptsNeeded(candidates));
  const end = endOf(driver, { range, end: block, endHash });
  return { range, end, sightings: placed(candidates, positions), logCount };
}

async function sift(
  driver: ChainDriver,
  range: BlockRange,
  { tokens, known }: { tokens: readonly string[]; known: Known },
): Promise<SiftedTransfers> {
  if (driver.sift) return driver.sift(range, tokens, known);
  const transfers = await driver.transfers(range, tokens);
  await known.refresh();
  return { transfers, logCount: transfers.length, endHash: hashAt(range.toBlock, transfers) };
}

async function blockWithPositions(
  driver: ChainDriver,
  number: bigint,
  chainTxs: readonly string[],
): Promise<{ block: BlockRef | undefined; positions: readonly ReceiptPosition[] }> {
  if (driver.blockWithPositions) return driver.blockWithPositions(number, chainTxs);
  const [block, positions] = await Promise.all([
    driver.block({ number }),
    chainTxs.length === 0 ? [] : driver.positions(chainTxs),
  ]);
  return { block, positions };
}

function endOf(
  driver: ChainDriver,
  { range, end, endHash }: { range: BlockRange; end: BlockRef | undefined; endHash: string | undefined },
): BlockRef {
  if (!end) throw new ProviderFailed("unknown_block", `${driver.name} lacks block ${range.toBlock}`);
  if (endHash !== undefined && endHash !== end.hash)
    throw new ProviderFailed("unknown_block", `${driver.name} replaced block ${end.number} while it was read`);
  return end;
}

function hashAt(number: bigint, transfers: readonly Transfer[]): string | undefined {
  return transfers.findLast(({ blockNumber }) => blockNumber === number)?.blockHash;
}

const BLOCKS_START = 100n;
const BLOCKS_MAX = 2_000n;
/** Answers of about this many logs keep both sides busy without filling the memory, when their bytes are looked through. */
export const LOGS_SIFTED = 16_000;
/** Of so many logs values are made without keeping those who wait for an answer of ours from it. */
export const LOGS_READ = 4_000;
/** After a refusal the size stays this many ranges where it was accepted: otherwise every second question would be refused. */
const REST_RANGES = 50;
/** What a provider calls its limit stays it for long, but a contract with him may change, or another one be asked. */
const REST_AT_LIMIT_RANGES = 1_000;

/** How many blocks to ask for at once. It follows what the provider takes and what the chain's traffic makes of it. */
export class RangeSize {
  readonly #logsWanted: number;
  #blocks = BLOCKS_START;
  #rest = 0;

  constructor(logsWanted: number) {
    this.#logsWanted = logsWanted;
  }

  get blocks(): bigint {
    return this.#blocks;
  }

  /** After a range that was refused as too large: what the provider said would do, or the half. False when it cannot be any smaller. */
  shrink(suggestion?: RangeSuggestion): boolean {
    if (this.#blocks === 1n) return false;
    const half = this.#blocks / 2n;
    const said = suggestion?.blocks ?? half;
    this.#blocks = said >= 1n && said < this.#blocks ? said : half;
    this.#rest = suggestion?.isLimit === true ? REST_AT_LIMIT_RANGES : REST_RANGES;
    return true;
  }

  /** After a failure that may come from the size, or from anything else: less is worth a try, and more again after it. */
  doubt(): void {
    if (this.#blocks > 1n) this.#blocks /= 2n;
  }

  /** After a whole range of that size that held so many logs. */
  learn({ fromBlock, toBlock }: BlockRange, logCount: number): void {
    if (toBlock - fromBlock + 1n < this.#blocks) return;
    if (logCount > 2 * this.#logsWanted && this.#blocks > 1n) this.#blocks /= 2n;
    else if (this.#rest > 0) this.#rest -= 1;
    else if (logCount * 2 < this.#logsWanted && this.#blocks < BLOCKS_MAX) this.#blocks *= 2n;
  }
}

/** Whether a provider said that it was asked for too much. */
export function isTooLarge(error: unknown): error is ProviderFailed {
  return error instanceof ProviderFailed && error.kind === "range_too_large";
}

/** A gateway that gives up, or a proxy that cuts what is long, says no more than that: less is worth a try the next time. */
export function mayBeTooLarge(error: unknown): boolean {
  return error instanceof ProviderFailed && ["timeout", "unreachable", "bad_answer"].includes(error.kind);
}
