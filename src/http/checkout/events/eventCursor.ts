/** Rounds in which a missing position is looked for: longer than any transaction takes that writes an event. */
const MISSING_ROUNDS_MAX = 100;
const MISSING_MAX = 1_000;

/** An event by its position, and its id; null where there is none. */
export type EventPosition = { readonly position: bigint; readonly eventId: string | null };

/**
 * How far the events have been read. Positions are drawn before their transactions commit, so a lower one may become
 * visible after a higher one. Positions that were skipped are asked for by number for a while; those of transactions
 * that failed never appear.
 */
export class EventCursor {
  #last: EventPosition | undefined;
  readonly #missing = new Map<bigint, number>();

  /** The highest position seen; undefined before the first read. */
  get last(): bigint | undefined {
    return this.#last?.position;
  }

  /** The id of the event there. After lost commits another event takes the position. */
  get lastId(): string | null {
    return this.#last?.eventId ?? null;
  }

  missing(): bigint[] {
    return [...this.#missing.keys()];
  }

  /** Takes the events of one read, in any order. `newest` is where a first read that returned none begins. */
  advance(events: readonly EventPosition[], newest: EventPosition): void {
    for (const [position, rounds] of this.#missing) {
      if (rounds >= MISSING_ROUNDS_MAX) this.#missing.delete(position);
      else this.#missing.set(position, rounds + 1);
    }
    this.#last ??= newest;
    for (const event of events.toSorted((one, other) => (one.position < other.position ? -1 : 1))) {
      const { position } = event;
      this.#missing.delete(position);
      if (position <= this.#last.position) continue;
      for (
        let skipped = this.#last.position + 1n;
        skipped < position && this.#missing.size < MISSING_MAX;
        skipped += 1n
      )
        this.#missing.set(skipped, 0);
      this.#last = event;
    }
  }

  /** Forgets everything: the next read begins at the newest event. */
  reset(): void {
    this.#last = undefined;
    this.#missing.clear();
  }
}
