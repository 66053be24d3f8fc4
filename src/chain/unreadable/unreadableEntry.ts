import type { Timer } from "../../kernel/clock.ts";

// What a chain holds and no reader of this release can parse: a transaction of a later version, a log in another form.
// One such entry must not stop the range that it stands in. A reader throws ProviderFailed `unreadable` with these
// entries, and leaves them out once the station that reads the chain has a row for each.

export type UnreadableEntry = {
  /** Names it at every provider alike: a transaction, a log of one by its number, or an account. */
  key: string;
  kind: "transaction" | "log" | "account";
  chainTx: string | undefined;
  blockNumber: bigint | undefined;
  /** Where it stands in its block, as a transfer's place. */
  place: bigint | undefined;
  /** Why it cannot be parsed. Two providers that answer alike give the same text. */
  reason: string;
  /** The addresses that its raw text names, in stored form, as far as they are known. */
  names: readonly string[];
  /** Whether its raw text names the program or contract that moves money out of inboxes. */
  namesProgram: boolean;
  /** Those of `names` that only the chain's lists show, because its raw text is not known. None by default. */
  listedBy?: readonly string[];
};

/** What a reading skips: an entry, and that the lists of these addresses show it. */
export function skippedKeys({ key, listedBy = [] }: Pick<UnreadableEntry, "key" | "listedBy">): string[] {
  return [key, ...listedBy.map((address) => `${key} ${address}`)];
}

/** What a provider has of an entry now. `unknown`: it does not have the transaction, log or account. */
export type UnreadableVerdict = { state: "unreadable"; reason: string } | { state: "readable" } | { state: "unknown" };

/**
 * Called with what every provider of a reading answered and no reader could parse. Returns whether all of it may be
 * left out now; the reading is then repeated.
 */
export type UnreadableHandler = (entries: readonly UnreadableEntry[]) => Promise<boolean>;

/** More are forgotten, the oldest first; each is then looked up again. */
const ENTRIES_MAX = 20_000;
/** After this time an entry is looked up again: it may be readable by now. */
const TTL_MS = 600_000;

/**
 * The entries of one chain that readers leave out. It only saves work: what it forgets is looked up in the database.
 */
export class SkippedEntries {
  readonly #clock: Timer;
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Timer) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    return (this.#untilMs.get(key) ?? -Infinity) > this.#clock.monotonicMs();
  }

  add(keys: Iterable<string>): void {
    const untilMs = this.#clock.monotonicMs() + TTL_MS;
    for (const key of keys) {
      this.#untilMs.delete(key);
      this.#untilMs.set(key, untilMs);
    }
    for (const key of this.#untilMs.keys()) {
      if (this.#untilMs.size <= ENTRIES_MAX) break;
      this.#untilMs.delete(key);
    }
  }

  delete(key: string): void {
    this.#untilMs.delete(key);
  }
}
