/** Rounds in which a missing position is looked for: longer than any transaction takes that writes an event. */
const MISSING_ROUNDS_MAX = 100;
const MISSING_MAX = 1_000;

/**
 * How far the events have been read. Positions are drawn before their transactions commit, so a lower one may become visible after a higher
 * one. Positions that were skipped are asked for by number for a while; those of transactions that failed never appear.
 */
export class EventCursor {
  #last: bigint | undefined;
  readonly #missing = new Map<bigint, number>();

  /** The highest position seen; undefined before the first read. */
  get last(): bigint | undefined {
    return this.#last;
  }

  missing(): bigint[] {
    return [...this.#missing.keys()];
  }

  /** Takes the positions of one read, in any order. `newest` is where a first read that returned none begins. */
  advance(positions: readonly bigint[], newest: bigint): void {
    for (const [position, rounds] of this.#missing) {
      if (rounds >= MISSING_ROUNDS_MAX) this.#missing.delete(position);
      else this.#missing.set(position, rounds + 1);
    }
    this.#last ??= newest;
    for (const position of positions.toSorted((one, other) => (one < other ? -1 : 1))) {
      this.#missing.delete(position);
      if (position <= this.#last) continue;
      for (let skipped = this.#last + 1n; skipped < position && this.#missing.size < MISSING_MAX; skipped += 1n)
        this.#missing.set(skipped, 0);
      this.#last = position;
    }
  }

  /** Forgets everything: the next read begins at the newest event. */
  reset(): void {
    this.#last = undefined;
    this.#missing.clear();
  }
}
