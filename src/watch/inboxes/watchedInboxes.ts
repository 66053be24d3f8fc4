import type { Db } from "../../db/database.ts";
import type { AddressMatcher } from "../../chain/addressFormat.ts";
import { addressFormatOf } from "../../chain/namespaces.ts";
import type { Namespace } from "../../kernel/caip.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { MemorySlot } from "../../kernel/processMemory.ts";
import type { World } from "../../world.ts";
import { SequenceGaps } from "./sequenceGaps.ts";
import { readInboxesAfter } from "./inboxes.ts";

const PAGE_SIZE = 20_000;
/** Pages per refresh; the next refresh reads the rest. */
const PAGES_MAX = 10_000;

/**
 * Every inbox of one namespace in memory, for selecting our few transfers from all of them. It saves database work and
 * is never the authority: writes join the inbox's row, and the database matches final blocks.
 */
export class WatchedInboxes {
  readonly #addresses: AddressMatcher;
  readonly #namespace: Namespace;
  readonly #clock: Clock;
  #gaps = new SequenceGaps();
  #lastSeq = 0;
  /** The row with this number, by which a restored database shows. */
  #anchor: string | null = null;
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

  /** Whether an inbox stands at `offset` of an answer, as the namespace's providers write it. */
  hasAt(bytes: Uint8Array, offset: number): boolean {
    return this.#addresses.hasAt(bytes, offset);
  }

  /**
   * Afterwards every inbox is known whose intent committed before the call, within the limits of SequenceGaps. One
   * indexed statement, whatever the number of inboxes. Callers run it once a block is known to exist, beside the read
   * of its transfers. Payers see an address only after its intent commits, so that is early enough.
   */
  async refresh(db: Db): Promise<void> {
    // The current run may have started before this call, so all waiting callers share the next one.
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
      const { seqs, addresses, anchor, lastAnchor } = await readInboxesAfter(db, page);
      if (anchor !== this.#anchor) {
        this.#restart();
        continue;
      }
      if (seqs === "") return;
      const numbers = seqs.split(",").map(Number);
      this.#addresses.addAll(Buffer.from(addresses, "latin1"));
      this.#noteNumbers(numbers);
      this.#anchor = lastAnchor ?? anchor;
      if (numbers.length < PAGE_SIZE) return;
    }
  }

  /**
   * Inboxes never change, so another row at the last number means that the database lost its newest ones and gives
   * their numbers to others. All are loaded again. The lost ones stay: they match nothing in the database.
   */
  #restart(): void {
    this.#gaps = new SequenceGaps();
    this.#lastSeq = 0;
    this.#anchor = null;
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

/** All chains of a namespace share their inboxes, because an address may be valid on each of them. */
const WATCHED: MemorySlot<Map<Namespace, WatchedInboxes>> = { create: () => new Map() };

/** The inboxes of a namespace in this process's memory. */
export function getWatchedInboxes(
  { clock, memory }: Pick<World, "clock" | "memory">,
  namespace: Namespace,
): WatchedInboxes {
  const all = memory.get(WATCHED);
  const known = all.get(namespace) ?? new WatchedInboxes(clock, namespace);
  all.set(namespace, known);
  return known;
}
