/** So long a create may take between drawing its number and committing, and still be found at the very next reading. */
const FRESH_MS = 5_000;
const FRESH_MAX = 1_000;
/** One that takes longer than this is found when its chain is read again at finality. */
const OLD_MS = 600_000;
const OLD_MAX = 5_000;
/** The old ones are asked for this often. */
const OLD_INTERVAL_MS = 1_000;
/** Of one gap, the last so many numbers: longer ones are left by a crash of the server, not by creates. */
const GAP_WIDTH_MAX = 1_000;

/**
 * Numbers of a sequence that were passed over and may still turn up, because transactions do not commit in the order in which they drew
 * theirs. Most never will: they were drawn for a row that was there already, or that was undone. So all of them are bounded, in
 * number and time, and after some seconds they are asked for less often. Times are those of a monotonic clock, in milliseconds.
 */
export class SequenceGaps {
  // When each was passed; both in that order.
  readonly #fresh = new Map<number, number>();
  readonly #old = new Map<number, number>();
  #oldQueriedAtMs = -OLD_INTERVAL_MS;

  /** Notes the numbers between two that follow each other. */
  addGap({ after, upTo }: { after: number; upTo: number }, nowMs: number): void {
    for (let seq = Math.max(after + 1, upTo - GAP_WIDTH_MAX); seq < upTo; seq += 1) this.#fresh.set(seq, nowMs);
    // Not each time: to forget the first of many takes longer than to note the next.
    if (this.#fresh.size > 2 * (FRESH_MAX + OLD_MAX)) this.#expire(nowMs);
  }

  /** Forgets a number that turned up. */
  remove(seq: number): void {
    this.#fresh.delete(seq);
    this.#old.delete(seq);
  }

  /** The numbers that are to be asked for now. */
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
