import type { Db } from "../../db/database.ts";
import { assert } from "../../kernel/assert.ts";
import type { Clock } from "../../kernel/clock.ts";
import { AddressSet } from "./addressSet.ts";
import { SequenceGaps } from "./sequenceGaps.ts";
import { readInboxesAfter } from "./inboxes.ts";

const PAGE_SIZE = 20_000;
/** More pages than this are read at the next time; no intent is skipped. */
const PAGES_MAX = 10_000;
const HEX_LENGTH = 40;
/** Stands for the digits of an address that belongs to no EVM chain. */
const DASH = "-".charCodeAt(0);

/**
 * Every inbox on EVM chains, kept in memory to pick the few transfers that concern us out of all of them. It saves the database work and
 * is never the authority: movements are written through the inbox's row, and final blocks are matched by the database.
 */
export class WatchedInboxes {
  readonly #addresses = new AddressSet();
  readonly #clock: Clock;
  readonly #gaps = new SequenceGaps();
  #lastSeq = 0;
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
  hasAt(bytes: Uint8Array, offset: number): boolean {
    return this.#addresses.hasAt(bytes, offset);
  }

  /**
   * Afterwards every inbox is known whose intent was committed before the call, if its create took no longer than some seconds (SequenceGaps).
   * One indexed statement, whatever number of inboxes there are; to be called as soon as a block is known to exist, beside the question
   * for what it holds: nobody can pay an address before its intent was committed, and nobody mines a payment before it was made.
   */
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
      const gapSeqs = this.#gaps.listDue(this.#clock.monotonicMs());
      const { seqs, hexes } = await readInboxesAfter(db, { seq: this.#lastSeq, gapSeqs, limit: PAGE_SIZE });
      if (seqs === "") return;
      const numbers = seqs.split(",").map(Number);
      this.#addPage(numbers, Buffer.from(hexes, "latin1"));
      if (numbers.length < PAGE_SIZE) return;
    }
  }

  #addPage(seqs: readonly number[], hexes: Uint8Array): void {
    assert(hexes.length === seqs.length * HEX_LENGTH, "an inbox address is not as long as one");
    const nowMs = this.#clock.monotonicMs();
    for (const [index, seq] of seqs.entries()) {
      if (hexes[index * HEX_LENGTH] !== DASH) this.#addresses.addHexAt(hexes, index * HEX_LENGTH);
      if (seq <= this.#lastSeq) {
        this.#gaps.remove(seq);
        continue;
      }
      this.#gaps.addGap({ after: this.#lastSeq, upTo: seq }, nowMs);
      this.#lastSeq = seq;
    }
  }
}
