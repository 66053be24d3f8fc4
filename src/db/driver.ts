import {
  AbortedTransactionError,
  CompiledQuery,
  sql,
  type DatabaseConnection,
  type Driver,
  type QueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type { TransactionGuard } from "./transactionGuard.ts";
import { encodeParameter } from "./parameters.ts";

/** A server's result of one statement: the decoded rows, and the command and row count of the command tag. */
export type StatementResult = { rows: Record<string, unknown>[]; command: string; rowCount: number };

/**
 * A statement that begins with such a comment is parsed and planned once a session. It is for the few that are asked
 * all the time: each has one text, and names the columns that it returns, because a plan outlives a migration that adds
 * others.
 */
const NAMED_STATEMENT = /^\/\* named: (\w+) \*\//;

/**
 * So does one that begins with this. It also reads and takes no lock, so that executions which are asked for at once
 * may go to the server together: it is for the reads that everything waits for.
 */
const BATCHABLE_STATEMENT = /^\/\* shared: (\w+) \*\//;

/** The name that a statement goes by; undefined where it has none. */
export function statementName(text: string): string | undefined {
  return (NAMED_STATEMENT.exec(text) ?? BATCHABLE_STATEMENT.exec(text))?.[1];
}

/** Whether executions of this statement may travel together, outside transactions. */
export function isBatchable(text: string): boolean {
  return BATCHABLE_STATEMENT.test(text);
}

const WRITING_COMMANDS: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** One session of a database. Subclasses transport the statement; parameters and columns are text on the way. */
export abstract class Session implements DatabaseConnection {
  abstract runStatement(text: string, parameters: (string | null)[]): Promise<StatementResult>;

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.runStatement(query.sql, query.parameters.map(encodeParameter));
    // Kysely trusts the row type; the decoders and the schema types make it true.
    const rows = result.rows as R[];
    return WRITING_COMMANDS.has(result.command) ? { rows, numAffectedRows: BigInt(result.rowCount) } : { rows };
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("rows are read in bounded pages here, not streamed");
  }
}

/** The common part of both drivers: the transaction guard, and the statements that start and end a transaction. */
export abstract class SessionDriver<S extends Session> implements Driver {
  readonly #guard: TransactionGuard;

  constructor(guard: TransactionGuard) {
    this.#guard = guard;
  }

  abstract init(): Promise<void>;
  abstract acquire(): Promise<S>;
  abstract releaseConnection(session: DatabaseConnection): Promise<void>;
  /** Marks a session whose rollback failed, so that no caller gets it again. */
  abstract discard(session: DatabaseConnection): void;
  abstract destroy(): Promise<void>;

  // Only the root handle calls this; the statements of a transaction already have a session.
  async acquireConnection(): Promise<DatabaseConnection> {
    this.assertOutside();
    return await this.acquire();
  }

  protected assertOutside(): void {
    this.#guard.assertOutside();
  }

  async beginTransaction(session: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel === undefined ? "" : ` isolation level ${settings.isolationLevel}`;
    const access = settings.accessMode === undefined ? "" : ` ${settings.accessMode}`;
    await session.executeQuery(CompiledQuery.raw(`start transaction${isolation}${access}`));
  }

  async commitTransaction(session: DatabaseConnection): Promise<void> {
    // PostgreSQL answers COMMIT with ROLLBACK, and without an error, when a statement of the transaction had failed.
    if (session instanceof Session && (await session.runStatement("commit", [])).command === "ROLLBACK")
      throw new AbortedTransactionError();
  }

  async rollbackTransaction(session: DatabaseConnection): Promise<void> {
    try {
      await session.executeQuery(CompiledQuery.raw("rollback"));
    } catch (error) {
      this.discard(session);
      throw error;
    }
  }

  async savepoint(session: DatabaseConnection, name: string, compile: QueryCompiler["compileQuery"]): Promise<void> {
    await savepointCommand("savepoint", { session, name, compile });
  }

  async rollbackToSavepoint(
    session: DatabaseConnection,
    name: string,
    compile: QueryCompiler["compileQuery"],
  ): Promise<void> {
    await savepointCommand("rollback to savepoint", { session, name, compile });
  }

  async releaseSavepoint(
    session: DatabaseConnection,
    name: string,
    compile: QueryCompiler["compileQuery"],
  ): Promise<void> {
    await savepointCommand("release savepoint", { session, name, compile });
  }
}

type Savepoint = { session: DatabaseConnection; name: string; compile: QueryCompiler["compileQuery"] };

async function savepointCommand(command: string, { session, name, compile }: Savepoint): Promise<void> {
  const node = sql`${sql.raw(command)} ${sql.ref(name)}`.toOperationNode();
  await session.executeQuery(compile(node, { queryId: name }));
}
