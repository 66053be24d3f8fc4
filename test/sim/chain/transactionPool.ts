import type { SubmitOutcome } from "../../../src/chain/evm/node.ts";
import type { ScriptedTransaction } from "./transaction.ts";

/** Picks what goes into a block next. Nothing means that the block is closed. */
export type SelectTransaction = (among: readonly ScriptedTransaction[]) => ScriptedTransaction | undefined;

/** A replacement has to offer a tenth more, as nodes ask. */
const REPLACEMENT_PERCENT = 110n;

/**
 * What waits for a block. Of two that use one nonce the dearer is the current one; the other is still known to somebody, and a
 * miner may take it.
 */
export class TransactionPool {
  readonly #pending = new Map<string, ScriptedTransaction>();
  /** The current transaction of each sender and nonce. */
  readonly #current = new Map<string, string>();

  get(chainTx: string): ScriptedTransaction | undefined {
    return this.#pending.get(chainTx);
  }

  get pending(): ScriptedTransaction[] {
    return [...this.#pending.values()];
  }

  /** Whether nobody asks for more than this transaction offers for its nonce. */
  isCurrent(transaction: ScriptedTransaction): boolean {
    return this.#current.get(senderNonceKey(transaction)) === transaction.chainTx;
  }

  add(transaction: ScriptedTransaction): SubmitOutcome {
    if (this.isCurrent(transaction)) return { kind: "known" };
    const rival = this.#pending.get(this.#current.get(senderNonceKey(transaction)) ?? "");
    if (rival && !canReplace(transaction, rival)) return { kind: "underpriced" };
    this.forceAdd(transaction);
    return { kind: "accepted" };
  }

  forceAdd(transaction: ScriptedTransaction): void {
    this.#pending.set(transaction.chainTx, transaction);
    this.#current.set(senderNonceKey(transaction), transaction.chainTx);
  }

  /** Lets every node forget it. */
  drop(chainTx: string): void {
    const transaction = this.#pending.get(chainTx);
    if (!transaction) return;
    this.#pending.delete(chainTx);
    if (this.isCurrent(transaction)) this.#current.delete(senderNonceKey(transaction));
  }

  /** Forgets what can never be mined any more. */
  dropBelowNonce(sender: string, nonce: bigint): void {
    for (const waiting of this.pending)
      if (waiting.sender === sender && waiting.nonce < nonce) this.drop(waiting.chainTx);
  }

  /** The dearest first, of equals the one that has waited longest. */
  readonly selectHighestTip: SelectTransaction = (among) => {
    const current = among.filter((transaction) => this.isCurrent(transaction));
    return (current.length > 0 ? current : among).reduce<ScriptedTransaction | undefined>(
      (best, one) => (best === undefined || one.maxPriorityFeePerGas > best.maxPriorityFeePerGas ? one : best),
      undefined,
    );
  };
}

function senderNonceKey({ sender, nonce }: ScriptedTransaction): string {
  return `${sender}/${nonce}`;
}

function canReplace(one: ScriptedTransaction, other: ScriptedTransaction): boolean {
  const raised = (paid: bigint) => (paid * REPLACEMENT_PERCENT) / 100n;
  return (
    one.maxFeePerGas >= raised(other.maxFeePerGas) && one.maxPriorityFeePerGas >= raised(other.maxPriorityFeePerGas)
  );
}
