import type { StatementResult } from "../driver.ts";
import type { Outcome, Parameters } from "./statementBatch.ts";

// Executions of one statement that start in the same turn of the event loop go to the server and back together: sending
// and receiving cost both sides more than the statement does. No execution waits for a fuller batch, and no batch waits
// for another.

/**
 * Runs a statement with each of the parameters. Resolves with the outcomes of the first executions, at least of one.
 */
export type RunBatch = (text: string, executions: readonly Parameters[]) => Promise<readonly Outcome[]>;

type PendingQuery = {
  readonly parameters: Parameters;
  resolve(result: StatementResult): void;
  reject(reason: unknown): void;
};

/** More go in several batches, which the server may run at the same time. */
const BATCH_MAX = 32;

/** Batches the executions of each turn. Each has its own outcome, even where others of its batch fail. */
export class StatementBatcher {
  readonly #runBatch: RunBatch;
  #pending = new Map<string, PendingQuery[]>();

  constructor(runBatch: RunBatch) {
    this.#runBatch = runBatch;
  }

  execute(text: string, parameters: Parameters): Promise<StatementResult> {
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult>();
    if (this.#pending.size === 0) setImmediate(() => this.#flush());
    const queries = this.#pending.get(text) ?? [];
    if (queries.length === 0) this.#pending.set(text, queries);
    queries.push({ parameters, resolve, reject });
    return promise;
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [text, queries] of pending)
      for (let from = 0; from < queries.length; from += BATCH_MAX)
        void this.#run(text, queries.slice(from, from + BATCH_MAX));
  }

  /** The server skips the executions behind one that failed. They run again: each batch has fewer. Never rejects. */
  async #run(text: string, queries: readonly PendingQuery[]): Promise<void> {
    let left = queries;
    while (left.length > 0) {
      const outcomes = await this.#tryRun(text, left);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "fulfilled") left[index]?.resolve(outcome.value);
        else left[index]?.reject(outcome.reason);
      }
      left = left.slice(outcomes.length);
    }
  }

  async #tryRun(text: string, queries: readonly PendingQuery[]): Promise<readonly Outcome[]> {
    try {
      return await this.#runBatch(
        text,
        queries.map(({ parameters }) => parameters),
      );
    } catch (reason) {
      return queries.map(() => ({ status: "rejected", reason }));
    }
  }
}
