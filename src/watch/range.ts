import { ProviderFailed, type BlockRef, type ChainDriver, type Transfer } from "../chain/driver.ts";

export type Range = { fromBlock: bigint; toBlock: bigint };
export type RangeReading = { range: Range; end: BlockRef; transfers: readonly Transfer[] };

/**
 * Reads a range and the block that ends it. Nodes answer a range that reaches beyond their head with an empty list, so the
 * end must be known to the provider that answered, and be the block in which the logs of its number stand.
 */
export async function readRange(driver: ChainDriver, range: Range, tokens: readonly string[]): Promise<RangeReading> {
  const [end, transfers] = await Promise.all([
    driver.block({ number: range.toBlock }),
    driver.transfers(range, tokens),
  ]);
  if (!end) throw new ProviderFailed("unknown_block", `${driver.name} lacks block ${range.toBlock}`);
  const stranger = transfers.find((transfer) => transfer.blockNumber === end.number && transfer.blockHash !== end.hash);
  if (stranger)
    throw new ProviderFailed("unknown_block", `${driver.name} replaced block ${end.number} while it was read`);
  return { range, end, transfers };
}

const BLOCKS_START = 100n;
const BLOCKS_MAX = 2_000n;
/** Answers of about this many transfers keep both sides busy without filling the memory. */
const TRANSFERS_WANTED = 10_000;
/** After a refusal the size stays this many ranges where it was accepted: otherwise every second question would be refused. */
const REST_RANGES = 50;

/** How many blocks to ask for at once. It follows what the provider takes and what the chain's traffic makes of it. */
export class RangeSize {
  #blocks = BLOCKS_START;
  #rest = 0;

  get blocks(): bigint {
    return this.#blocks;
  }

  /** After a range that was refused as too large. False when it cannot be any smaller. */
  shrink(): boolean {
    if (this.#blocks === 1n) return false;
    this.#blocks /= 2n;
    this.#rest = REST_RANGES;
    return true;
  }

  /** After a whole range of that size that held so many transfers. */
  learn(reading: RangeReading): void {
    const { fromBlock, toBlock } = reading.range;
    if (toBlock - fromBlock + 1n < this.#blocks) return;
    if (reading.transfers.length > 2 * TRANSFERS_WANTED && this.#blocks > 1n) this.#blocks /= 2n;
    else if (this.#rest > 0) this.#rest -= 1;
    else if (reading.transfers.length * 2 < TRANSFERS_WANTED && this.#blocks < BLOCKS_MAX) this.#blocks *= 2n;
  }
}
