import { ProviderFailed, type BlockRange, type RangeSuggestion } from "../../chain/reader.ts";

const BLOCKS_START = 100n;
const BLOCKS_MAX = 2_000n;
/** Logs per answer when the raw bytes are scanned: large enough for throughput, small enough for memory. */
export const FILTERED_LOGS_TARGET = 16_000;
/** Logs per answer when every log is parsed: short enough not to delay concurrent requests. */
export const PARSED_LOGS_TARGET = 4_000;
/** Accepted ranges before growing after a refusal; otherwise every second request would be refused. */
const GROWTH_PAUSE_RANGES = 50;
/** Same after a stated limit. It is retried eventually, because plans change and another provider may answer. */
const LIMIT_PAUSE_RANGES = 1_000;

/** Blocks per request. Adapts to the provider's limits and the chain's traffic. */
export class RangeSize {
  readonly #logsTarget: number;
  #blocks = BLOCKS_START;
  #pausedRanges = 0;

  constructor(logsWanted: number) {
    this.#logsTarget = logsWanted;
  }

  get blocks(): bigint {
    return this.#blocks;
  }

  /** Shrinks after a refused range: to the provider's suggestion, or by half. Returns false at the minimum. */
  shrink(suggestion?: RangeSuggestion): boolean {
    if (this.#blocks === 1n) return false;
    const half = this.#blocks / 2n;
    const suggested = suggestion?.blocks ?? half;
    this.#blocks = suggested >= 1n && suggested < this.#blocks ? suggested : half;
    this.#pausedRanges = suggestion?.isLimit === true ? LIMIT_PAUSE_RANGES : GROWTH_PAUSE_RANGES;
    return true;
  }

  /** Halves after a failure that the size may have caused; it grows again later. */
  halve(): void {
    if (this.#blocks > 1n) this.#blocks /= 2n;
  }

  /** Adapts after a complete range with this many logs. */
  adjust({ fromBlock, toBlock }: BlockRange, scannedCount: number): void {
    if (toBlock - fromBlock + 1n < this.#blocks) return;
    if (scannedCount > 2 * this.#logsTarget && this.#blocks > 1n) this.#blocks /= 2n;
    else if (this.#pausedRanges > 0) this.#pausedRanges -= 1;
    else if (scannedCount * 2 < this.#logsTarget && this.#blocks < BLOCKS_MAX) this.#blocks *= 2n;
  }
}

/** Whether a provider refused a range as too large. */
export function isRangeTooLarge(error: unknown): error is ProviderFailed {
  return error instanceof ProviderFailed && error.kind === "range_too_large";
}

/** Whether the size may have caused a failure: gateway timeouts and truncated answers give no other hint. */
export function mayBeRangeTooLarge(error: unknown): boolean {
  return error instanceof ProviderFailed && ["timeout", "unreachable", "bad_answer"].includes(error.kind);
}
