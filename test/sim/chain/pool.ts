import type { SubmitOutcome } from "../../../src/chain/driver.ts";
import type { ScriptedTransaction } from "./transaction.ts";

/** Picks what goes into a block next. Nothing means that the block is closed. */
export type Choose = (among: readonly ScriptedTransaction[]) => ScriptedTransaction | undefined;

/** A replacement has to offer a tenth more, as nodes ask. */
const REPLACEMENT_PERCENT = 110n;

/**
 * What waits for a block. Of two that use one nonce the dearer is the current one; the other is still known to somebody, and a
 * miner may take it.
 */
export class Pool {
  readonly #waiting = new Map<string, ScriptedTransaction>();
  /** The current transaction of each sender and nonce. */
  readonly #current = new Map<string, string>();

  get(chainTx: string): ScriptedTransaction | undefined {
    return this.#waiting.get(chainTx);
  }

  get all(): ScriptedTransaction[] {
    return [...this.#waiting.values()];
  }

  /** Whether nobody asks for more than this transaction offers for its nonce. */
  isCurrent(transaction: ScriptedTransaction): boolean {
    return this.#current.get(slotOf(transaction)) === transaction.chainTx;
  }

  offer(transaction: ScriptedTransaction): SubmitOutcome {
    if (this.isCurrent(transaction)) return { kind: "known" };
    const rival = this.#waiting.get(this.#current.get(slotOf(transaction)) ?? "");
    if (rival && !outbids(transaction, rival)) return { kind: "underpriced" };
    this.put(transaction);
    return { kind: "accepted" };
  }

  put(transaction: ScriptedTransaction): void {
    this.#waiting.set(transaction.chainTx, transaction);
    this.#current.set(slotOf(transaction), transaction.chainTx);
  }

  /** Lets every node forget it. */
  drop(chainTx: string): void {
    const transaction = this.#waiting.get(chainTx);
    if (!transaction) return;
    this.#waiting.delete(chainTx);
    if (this.isCurrent(transaction)) this.#current.delete(slotOf(transaction));
  }

  /** Forgets what can never be mined any more. */
  forgetBelow(sender: string, nonce: bigint): void {
    for (const waiting of this.all) if (waiting.sender === sender && waiting.nonce < nonce) this.drop(waiting.chainTx);
  }

  /** The dearest first, of equals the one that has waited longest. */
  readonly chooseDearest: Choose = (among) => {
    const current = among.filter((transaction) => this.isCurrent(transaction));
    return (current.length > 0 ? current : among).reduce<ScriptedTransaction | undefined>(
      (best, one) => (best === undefined || one.maxPriorityFeePerGas > best.maxPriorityFeePerGas ? one : best),
      undefined,
    );
  };
}

function slotOf({ sender, nonce }: ScriptedTransaction): string {
  return `${sender}/${nonce}`;
}

function outbids(one: ScriptedTransaction, other: ScriptedTransaction): boolean {
  const raised = (paid: bigint) => (paid * REPLACEMENT_PERCENT) / 100n;
  return (
    one.maxFeePerGas >= raised(other.maxFeePerGas) && one.maxPriorityFeePerGas >= raised(other.maxPriorityFeePerGas)
  );
}
