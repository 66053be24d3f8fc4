import pg from "pg";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import { getDecoder } from "../decoders.ts";
import { statementName, Session, SessionDriver, type StatementResult } from "../driver.ts";
import { endsSession, isReadOnlyServer } from "../errors.ts";
import { systemTimer } from "../../kernel/clock.ts";
import { checkSchema, checkSession } from "./serverChecks.ts";
import { refuseSharedSessions } from "./sharedSessions.ts";
import { StatementBatcher } from "./statementBatcher.ts";
import type { TransactionGuard } from "../transactionGuard.ts";
import { StatementBatch, type Outcome, type Parameters } from "./statementBatch.ts";
import { encodeParameter } from "../parameters.ts";

/**
 * How long a session counts as writable: a server that becomes read-only may stay connected, and reads from it would be
 * old.
 */
const CHECK_INTERVAL_MS = 2_000;
/** A connection lives no longer, so that a pool follows a changed address of the server. */
const LIFETIME_S = 600;

export type PostgresOptions = {
  /** postgres://user:password@host/database */
  url: string;
  /** The schema of every table; by default the first that exists of the role's search_path. */
  schema?: string | undefined;
  /** The most connections of this process; 10 by default. */
  poolSizeMax?: number;
  /** The timeout of one statement, in milliseconds; 15,000 by default. */
  statementTimeoutMs?: number;
  /** The longest wait for a free or new connection, in milliseconds; 5,000 by default. */
  connectTimeoutMs?: number;
  /** The server is a standby, whose sessions only read. */
  isCopy?: boolean;
  /** The longest wait for an answer, in milliseconds, whatever the server does; no limit by default. */
  answerMsMax?: number;
  /**
   * Accepts a server that may lose committed transactions on a power failure, such as one with fsync off. For tests.
   */
  allowUnsafeFsync?: boolean;
  /** Opens a second connection once, and refuses a pooler that gives both the same session. */
  refusesSharedSessions?: boolean;
};

/** Settings for the pool: the application name, and the decoders that both drivers share. */
function clientOptions(options: PostgresOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    ...(options.schema === undefined ? {} : { options: `-c search_path=${options.schema}` }),
    application_name: "tributary",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    ...(options.answerMsMax === undefined ? {} : { query_timeout: options.answerMsMax }),
    types: { getTypeParser: getDecoder as typeof pg.types.getTypeParser },
  };
}

class PooledSession extends Session {
  readonly client: pg.PoolClient;
  discarded = false;
  readonly #isCopy: boolean;
  readonly #onReadOnly: () => void;

  constructor(client: pg.PoolClient, isCopy: boolean, onReadOnly: () => void) {
    super();
    this.client = client;
    this.#isCopy = isCopy;
    this.#onReadOnly = onReadOnly;
  }

  override async runStatement(text: string, parameters: (string | null)[]): Promise<StatementResult> {
    const name = statementName(text);
    const query = { ...(name !== undefined && { name }), text, values: parameters };
    try {
      const result = await this.client.query<Record<string, unknown>>(query);
      return { rows: result.rows, command: result.command, rowCount: result.rowCount ?? 0 };
    } catch (error) {
      this.#noteError(error);
      throw error;
    }
  }

  #noteError(error: unknown): void {
    // A session of a copy may still wait for the answer.
    if (this.#isCopy || endsSession(error)) this.discarded = true;
    if (isReadOnlyServer(error)) this.#onReadOnly();
  }

  async runBatch(text: string, executions: readonly Parameters[]): Promise<Outcome[]> {
    const batch = new StatementBatch(statementName(text) ?? "", text, executions);
    const outcomes = await this.client.query(batch).outcomes;
    const last = outcomes.at(-1);
    if (last?.status === "rejected") this.#noteError(last.reason);
    return outcomes;
  }
}

/** Connections that are open, those of them that nothing uses, and callers that wait for one. */
export type PoolUse = { readonly open: number; readonly idle: number; readonly waiting: number };

/** Sessions of a PostgreSQL server, from a connection pool. */
export class PooledDriver extends SessionDriver<PooledSession> {
  readonly #pool: pg.Pool;
  readonly #options: PostgresOptions;
  /** When each session was last known to be writable; monotonic milliseconds. */
  readonly #checkedAtMs = new WeakMap<pg.PoolClient, number>();
  /** Sessions that were checked before this are checked again. */
  #suspectAtMs = -Infinity;
  readonly #batcher = new StatementBatcher((text, executions) => this.#runBatch(text, executions));

  constructor(options: PostgresOptions, guard: TransactionGuard) {
    super(guard);
    this.#options = options;
    this.#pool = new pg.Pool({
      ...clientOptions(options),
      max: this.#poolSizeMax,
      maxLifetimeSeconds: LIFETIME_S,
      // A process with nothing to do but idle connections ends.
      allowExitOnIdle: true,
    });
    // A lost connection rejects the statement that uses it. Without a listener the same event would end the process.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  override async init(): Promise<void> {}

  get use(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount };
  }

  get #poolSizeMax(): number {
    return this.#options.poolSizeMax ?? 10;
  }

  /**
   * Rejects with DatabaseReadOnly while new connections reach a server that takes no writes. Sessions that stayed on
   * such a server end, so that the pool returns by itself when another server answers.
   */
  override async acquire(): Promise<PooledSession> {
    for (let left = this.#poolSizeMax; ; left -= 1) {
      const client = await this.#pool.connect();
      const isNew = !this.#checkedAtMs.has(client);
      try {
        await this.#checkIfDue(client);
        return new PooledSession(client, this.#options.isCopy === true, () => {
          this.#suspectAtMs = systemTimer.monotonicMs();
        });
      } catch (error) {
        client.release(true);
        if (isNew || left <= 0) throw error;
      }
    }
  }

  async #checkIfDue(client: pg.PoolClient): Promise<void> {
    const startedAtMs = systemTimer.monotonicMs();
    const checkedAtMs = this.#checkedAtMs.get(client);
    const dueAtMs = Math.max(startedAtMs - CHECK_INTERVAL_MS, this.#suspectAtMs);
    if (checkedAtMs !== undefined && checkedAtMs > dueAtMs) return;
    if (checkedAtMs === undefined && this.#options.schema !== undefined)
      await checkSchema(client, this.#options.schema);
    const settings = checkedAtMs === undefined ? this.#sessionSettings() : [];
    if (this.#options.isCopy !== true) await checkSession(client, settings);
    else if (settings.length > 0)
      await client.query([...settings, "set default_transaction_read_only = on"].join("; "));
    this.#checkedAtMs.set(client, startedAtMs);
  }

  /** Throws DatabaseUnusable when a pooler shares this session with other clients. */
  refuseSharedSessions({ client }: PooledSession): Promise<void> {
    return refuseSharedSessions(client, clientOptions(this.#options));
  }

  /** Runs a statement in a batch with others of the same turn. */
  async runBatched<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.assertOutside();
    const { rows } = await this.#batcher.execute(query.sql, query.parameters.map(encodeParameter));
    // As everywhere, the decoders and the schema type make true what is said of the rows.
    return { rows: rows as R[] };
  }

  async #runBatch(text: string, executions: readonly Parameters[]): Promise<Outcome[]> {
    const session = await this.acquire();
    try {
      return await session.runBatch(text, executions);
    } finally {
      await this.releaseConnection(session);
    }
  }

  override async releaseConnection(session: DatabaseConnection): Promise<void> {
    if (session instanceof PooledSession) session.client.release(session.discarded);
  }

  override discard(session: DatabaseConnection): void {
    if (session instanceof PooledSession) session.discarded = true;
  }

  override async destroy(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  // The decoders depend on the first three. The timeouts release locks that a stuck session would otherwise hold
  // permanently.
  #sessionSettings(): string[] {
    return [
      "set timezone = 'UTC'",
      "set datestyle = 'ISO, MDY'",
      "set bytea_output = 'hex'",
      `set statement_timeout = ${this.#options.statementTimeoutMs ?? 15_000}`,
      "set lock_timeout = 5000",
      "set idle_in_transaction_session_timeout = 30000",
    ];
  }
}
