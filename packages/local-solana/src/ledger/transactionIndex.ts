import type { LandedTransaction } from "./executedTransaction.ts";

/** Transactions by signature and by account. */
export class TransactionIndex {
  readonly #bySignature = new Map<string, LandedTransaction>();
  /** Oldest first. */
  readonly #byAccount = new Map<string, LandedTransaction[]>();

  get size(): number {
    return this.#bySignature.size;
  }

  find(signature: string): LandedTransaction | undefined {
    return this.#bySignature.get(signature);
  }

  listOf(account: string): readonly LandedTransaction[] {
    return this.#byAccount.get(account) ?? [];
  }

  add(landed: LandedTransaction): void {
    this.#bySignature.set(landed.signature, landed);
    for (const key of landed.keys) {
      const transactions = this.#byAccount.get(key);
      if (transactions === undefined) this.#byAccount.set(key, [landed]);
      else transactions.push(landed);
    }
  }

  remove(transactions: readonly LandedTransaction[]): void {
    const signatures = new Set(transactions.map(({ signature }) => signature));
    for (const signature of signatures) this.#bySignature.delete(signature);
    for (const key of new Set(transactions.flatMap(({ keys }) => keys))) {
      const left = (this.#byAccount.get(key) ?? []).filter(({ signature }) => !signatures.has(signature));
      if (left.length === 0) this.#byAccount.delete(key);
      else this.#byAccount.set(key, left);
    }
  }
}
