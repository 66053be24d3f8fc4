import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Knows whether the running code is inside an open transaction. A statement on the root handle from in there would
 * wait for the very transaction that waits for it (always with one connection, under load with a pool), so it is refused at once.
 */
export class TransactionGuard {
  readonly #scopes = new AsyncLocalStorage<{ open: boolean }>();

  /** Throws when the caller runs inside a transaction of this database that is still open. */
  assertOutside(): void {
    if (this.#scopes.getStore()?.open !== true) return;
    throw new Error(
      "the root handle of the database was used inside an open transaction: use the tx that was handed in",
    );
  }

  /** Runs `work` as the inside of a transaction. What it leaves running may use the root handle as soon as it has ended. */
  async runInside<T>(work: () => Promise<T>): Promise<T> {
    const scope = { open: true };
    try {
      return await this.#scopes.run(scope, work);
    } finally {
      scope.open = false;
    }
  }
}
