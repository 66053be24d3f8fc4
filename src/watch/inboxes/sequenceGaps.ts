/** A create that commits within this time after drawing its number is found at the very next read. */
const FRESH_MS = 5_000;
const FRESH_MAX = 1_000;
/** A slower create is found when the chain is reread at finality. */
const OLD_MS = 600_000;
const OLD_MAX = 5_000;
/** Interval of queries for old gaps. */
const OLD_INTERVAL_MS = 1_000;
/** Numbers kept per gap, the last ones: a server crash leaves longer gaps, creates do not. */
const GAP_WIDTH_MAX = 1_000;

/**
 * Numbers of a sequence that were skipped and may still appear, because transactions commit out of order. Most never
 * appear: their row existed already or was rolled back. So gaps are bounded in number and age, and old ones are queried
 * less often. Times are monotonic, in milliseconds.
 */
export class SequenceGaps {
  // When each number was skipped; both maps are in that order.
  readonly #fresh = new Map<number, number>();
  readonly #old = new Map<number, number>();
  #oldQueriedAtMs = -OLD_INTERVAL_MS;

  /** Adds the numbers between two consecutive ones. */
  addGap({ after, upTo }: { after: number; upTo: number }, nowMs: number): void {
    for (let seq = Math.max(after + 1, upTo - GAP_WIDTH_MAX); seq < upTo; seq += 1) this.#fresh.set(seq, nowMs);
    // Expiring takes longer than adding, so it runs only at twice the limit.
    if (this.#fresh.size > 2 * (FRESH_MAX + OLD_MAX)) this.#expire(nowMs);
  }

  /** Removes a number that appeared. */
  remove(seq: number): void {
    this.#fresh.delete(seq);
    this.#old.delete(seq);
  }

  /** The numbers to query now. */
  listDue(nowMs: number): number[] {
    this.#expire(nowMs);
    if (nowMs - this.#oldQueriedAtMs < OLD_INTERVAL_MS) return [...this.#fresh.keys()];
    this.#oldQueriedAtMs = nowMs;
    return [...this.#old.keys(), ...this.#fresh.keys()];
  }

  #expire(nowMs: number): void {
    for (const [seq, passedAtMs] of this.#fresh) {
      if (nowMs - passedAtMs < FRESH_MS && this.#fresh.size <= FRESH_MAX) break;
      this.#fresh.delete(seq);
      this.#old.set(seq, passedAtMs);
    }
    for (const [seq, passedAtMs] of this.#old) {
      if (nowMs - passedAtMs < OLD_MS && this.#old.size <= OLD_MAX) break;
      this.#old.delete(seq);
    }
  }
}
