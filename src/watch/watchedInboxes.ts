import type { Db } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import { AddressSet } from "./addressSet.ts";
import { listInboxesAfter } from "./store.ts";

const PAGE = 10_000;
/** More pages than this are read at the next time; no intent is skipped. */
const PAGES_MAX = 10_000;
/** A create that takes longer than this to commit is found when its chain is read again. */
const GAP_MS_MAX = 600_000;
const GAPS_MAX = 1_000;

/**
 * Every inbox there is, kept in memory to pick the few transfers that concern us out of all of them. It saves the database work and
 * is never the authority: movements are written through the intent's row, and final blocks are matched by the database.
 */
export class WatchedInboxes {
  readonly #addresses = new AddressSet();
  readonly #clock: Clock;
  #lastSeq = 0n;
  /** Numbers that were passed over, with the time until which they may still turn up: intents do not commit in their order. */
  readonly #gaps = new Map<bigint, number>();
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#addresses.size;
  }

  has(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** Whether the forty characters (ASCII) at `offset` are the hex digits, in either case, of an inbox. */
  hasHexAt(bytes: Uint8Array, offset: number): boolean {
    return this.#addresses.hasHexAt(bytes, offset);
  }

  /** Afterwards every inbox is known whose intent was committed before the call. */
  async refresh(db: Db): Promise<void> {
    // A run under way may have read too early for this caller; everybody who waits for it shares the next one.
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#running = this.#load(db);
        return this.#running;
      });
    await this.#next;
  }

  async #load(db: Db): Promise<void> {
    for (let page = 0; page < PAGES_MAX; page += 1) {
      this.#forgetOldGaps();
      const inboxes = await listInboxesAfter(db, { seq: this.#lastSeq, orAmong: [...this.#gaps.keys()], limit: PAGE });
      for (const { seq, inbox } of inboxes) this.#take(seq, inbox);
      if (inboxes.length < PAGE) return;
    }
  }

  #take(seq: bigint, inbox: string): void {
    this.#addresses.add(inbox);
    if (seq <= this.#lastSeq) {
      this.#gaps.delete(seq);
      return;
    }
    const untilMs = this.#clock.monotonicMs() + GAP_MS_MAX;
    const firstGap = seq - this.#lastSeq > GAPS_MAX ? seq - BigInt(GAPS_MAX) : this.#lastSeq + 1n;
    for (let gap = firstGap; gap < seq; gap += 1n) this.#gaps.set(gap, untilMs);
    this.#lastSeq = seq;
  }

  #forgetOldGaps(): void {
    const nowMs = this.#clock.monotonicMs();
    let surplus = this.#gaps.size - GAPS_MAX;
    for (const [seq, untilMs] of this.#gaps) {
      if (untilMs > nowMs && surplus <= 0) continue;
      this.#gaps.delete(seq);
      surplus -= 1;
    }
  }
}
