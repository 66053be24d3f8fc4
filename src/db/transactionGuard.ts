import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Tracks whether the running code is inside an open transaction. There, a statement on the root handle would wait for
 * the connection that the transaction itself holds: always with one connection, under load with a pool. The guard
 * refuses it at once.
 */
export class TransactionGuard {
  readonly #scopes = new AsyncLocalStorage<{ open: boolean }>();

  /** Throws when the caller runs inside a transaction of this database that is still open. */
  assertOutside(): void {
    if (this.#scopes.getStore()?.open !== true) return;
    throw new Error("the root handle of the database was used inside an open transaction: use the tx parameter");
  }

  /** Runs `work` inside a transaction scope. Work that outlives it may use the root handle. */
  async runInside<T>(work: () => Promise<T>): Promise<T> {
    const scope = { open: true };
    try {
      return await this.#scopes.run(scope, work);
    } finally {
      scope.open = false;
    }
  }
}
