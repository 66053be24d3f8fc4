import type { SubmitOutcome } from "../../../src/chain/evm/node.ts";
import type { ScriptedTransaction } from "./transaction.ts";

/** Picks the next transaction of a block. Undefined closes the block. */
export type SelectTransaction = (among: readonly ScriptedTransaction[]) => ScriptedTransaction | undefined;

/** A replacement must offer a tenth more, as nodes require. */
const REPLACEMENT_PERCENT = 110n;

/**
 * Pooled transactions. Of two with one nonce, the one with the higher tip is current. Some nodes still know the other
 * one, and a miner may include it.
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

  /** Whether no rival offers more for this nonce. */
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

  /** Removes a transaction from all nodes. */
  drop(chainTx: string): void {
    const transaction = this.#pending.get(chainTx);
    if (!transaction) return;
    this.#pending.delete(chainTx);
    if (this.isCurrent(transaction)) this.#current.delete(senderNonceKey(transaction));
  }

  /** Removes transactions that no later block can include. */
  dropBelowNonce(sender: string, nonce: bigint): void {
    for (const waiting of this.pending)
      if (waiting.sender === sender && waiting.nonce < nonce) this.drop(waiting.chainTx);
  }

  /** The highest tip first; of equal tips, the oldest. */
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
