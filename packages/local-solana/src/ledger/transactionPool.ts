import { hasValidSignatures, runTransaction } from "./execute.ts";
import type { Ledger } from "./ledger.ts";
import type { ParsedTransaction } from "./transaction.ts";

/** What happens to sent transactions: they land at once, wait until they are released, or are lost. */
export type Landing = "now" | "hold" | "drop";

/** More held transactions than this are lost, the oldest first. */
const HELD_MAX = 1_000;

/** Between a node that took a transaction and the leader that puts it into a block. */
export class TransactionPool {
  landing: Landing = "now";
  readonly #ledger: Ledger;
  #held: ParsedTransaction[] = [];

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  submit(parsed: ParsedTransaction): void {
    if (this.landing === "now") this.#run(parsed);
    if (this.landing === "hold") this.#held = [...this.#held, parsed].slice(-HELD_MAX);
  }

  /** Lets held transactions land, all or those named. */
  release(signatures?: readonly string[]): void {
    const isReleased = (parsed: ParsedTransaction) =>
      signatures === undefined || signatures.includes(parsed.signatures[0] ?? "");
    const [released, rest] = [this.#held.filter(isReleased), this.#held.filter((each) => !isReleased(each))];
    this.#held = rest;
    for (const parsed of released) this.#run(parsed);
  }

  #run(parsed: ParsedTransaction): void {
    // The runtime would charge nobody for a wrong signature either; asking first keeps the ledger free of it.
    if (hasValidSignatures(parsed)) runTransaction(this.#ledger, parsed);
  }
}
