import type { Db } from "../../db/database.ts";
import type { AddressMatcher } from "../../chain/addressFormat.ts";
import { addressFormatOf } from "../../chain/namespaces.ts";
import type { Namespace } from "../../kernel/caip.ts";
import type { Clock } from "../../kernel/clock.ts";
import { SequenceGaps } from "./sequenceGaps.ts";
import { readInboxesAfter } from "./inboxes.ts";

const PAGE_SIZE = 20_000;
/** More pages than this are read at the next time; no intent is skipped. */
const PAGES_MAX = 10_000;

/**
 * Every inbox of one namespace, kept in memory to pick the few transfers that concern us out of all of them. It saves the database work and
 * is never the authority: movements are written through the inbox's row, and final blocks are matched by the database.
 */
export class WatchedInboxes {
  readonly #addresses: AddressMatcher;
  readonly #namespace: Namespace;
  readonly #clock: Clock;
  readonly #gaps = new SequenceGaps();
  #lastSeq = 0;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(clock: Clock, namespace: Namespace) {
    this.#clock = clock;
    this.#namespace = namespace;
    this.#addresses = addressFormatOf(namespace).createMatcher();
  }

  get size(): number {
    return this.#addresses.size;
  }

  has(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** Whether an inbox stands at `offset` of an answer, as providers of the namespace write it. */
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
      const page = { namespace: this.#namespace, seq: this.#lastSeq, gapSeqs, limit: PAGE_SIZE };
      const { seqs, addresses } = await readInboxesAfter(db, page);
      if (seqs === "") return;
      const numbers = seqs.split(",").map(Number);
      this.#addresses.addAll(Buffer.from(addresses, "latin1"));
      this.#noteNumbers(numbers);
      if (numbers.length < PAGE_SIZE) return;
    }
  }

  #noteNumbers(seqs: readonly number[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const seq of seqs) {
      if (seq <= this.#lastSeq) {
        this.#gaps.remove(seq);
        continue;
      }
      this.#gaps.addGap({ after: this.#lastSeq, upTo: seq }, nowMs);
      this.#lastSeq = seq;
    }
  }
}
