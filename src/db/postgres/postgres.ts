import pg from "pg";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import { getDecoder } from "../decoders.ts";
import { statementName, Session, SessionDriver, type StatementResult } from "../driver.ts";
import { DatabaseUnusable } from "../errors.ts";
import { StatementBatcher } from "./statementBatcher.ts";
import type { TransactionGuard } from "../transactionGuard.ts";
import { StatementBatch, type Outcome, type Parameters } from "./statementBatch.ts";
import { encodeParameter } from "../parameters.ts";

const SERVER_VERSION_MIN = 150_000;

const UNSAFE_SETTINGS = `
  select name from pg_settings
  where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name
`;

export type PostgresOptions = {
  /** postgres://user:password@host/database */
  url: string;
  /** The most connections of this process; 10 by default. */
  poolSizeMax?: number;
  /** The timeout of one statement, in milliseconds; 15,000 by default. */
  statementTimeoutMs?: number;
  /** The longest wait for a free or new connection, in milliseconds; 5,000 by default. */
  connectTimeoutMs?: number;
  /** Accepts a server that may lose committed transactions on a power failure, such as one with fsync off. For tests. */
  allowUnsafeFsync?: boolean;
};

/** Settings for the pool: the application name, and the decoders that both drivers share. */
function clientOptions(options: PostgresOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: "tributary",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    types: { getTypeParser: getDecoder as typeof pg.types.getTypeParser },
  };
}

class PooledSession extends Session {
  readonly client: pg.PoolClient;
  discarded = false;

  constructor(client: pg.PoolClient) {
    super();
    this.client = client;
  }

  override async runStatement(text: string, parameters: (string | null)[]): Promise<StatementResult> {
    const name = statementName(text);
    const query = { ...(name !== undefined && { name }), text, values: parameters };
    try {
      const result = await this.client.query<Record<string, unknown>>(query);
      return { rows: result.rows, command: result.command, rowCount: result.rowCount ?? 0 };
    } catch (error) {
      if (mustReconnect(error)) this.discarded = true;
      throw error;
    }
  }

  async runBatch(text: string, executions: readonly Parameters[]): Promise<Outcome[]> {
    const batch = new StatementBatch(statementName(text) ?? "", text, executions);
    const outcomes = await this.client.query(batch).outcomes;
    const last = outcomes.at(-1);
    if (last?.status === "rejected" && mustReconnect(last.reason)) this.discarded = true;
    return outcomes;
  }
}

/** SQLSTATEs of a prepared statement that no longer fits the tables or is gone, and of a connection that the server ends. */
const RECONNECT_CODES = /^(0A000|26000|08...|57P..)$/;

function mustReconnect(error: unknown): boolean {
  return RECONNECT_CODES.test(String(Reflect.get(Object(error), "code")));
}

/** Sessions of a PostgreSQL server, from a connection pool. */
export class PooledDriver extends SessionDriver<PooledSession> {
  readonly #pool: pg.Pool;
  readonly #options: PostgresOptions;
  readonly #configured = new WeakSet<pg.PoolClient>();
  readonly #batcher = new StatementBatcher((text, executions) => this.#runBatch(text, executions));

  constructor(options: PostgresOptions, guard: TransactionGuard) {
    super(guard);
    this.#options = options;
    this.#pool = new pg.Pool({ ...clientOptions(options), max: options.poolSizeMax ?? 10 });
    // A lost connection rejects the statement that uses it. Without a listener the same event would end the process.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  override async init(): Promise<void> {}

  override async acquire(): Promise<PooledSession> {
    const client = await this.#pool.connect();
    try {
      if (!this.#configured.has(client)) await client.query(this.#sessionSettings());
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.#configured.add(client);
    return new PooledSession(client);
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

  // The decoders depend on the first three. The timeouts release locks that a stuck session would otherwise hold for ever.
  #sessionSettings(): string {
    return [
      "set timezone = 'UTC'",
      "set datestyle = 'ISO, MDY'",
      "set bytea_output = 'hex'",
      `set statement_timeout = ${this.#options.statementTimeoutMs ?? 15_000}`,
      "set lock_timeout = 5000",
      "set idle_in_transaction_session_timeout = 30000",
    ].join("; ");
  }
}

/** Throws DatabaseUnusable when the server is too old, or may lose committed transactions on a power failure. */
export async function checkServer(driver: PooledDriver, options: PostgresOptions): Promise<void> {
  const session = await driver.acquire();
  try {
    const { rows: versions } = await session.runStatement(
      "select current_setting('server_version_num')::int as number",
      [],
    );
    const version = Number(versions[0]?.["number"]);
    if (version < SERVER_VERSION_MIN) {
      throw new DatabaseUnusable(`PostgreSQL 15 or newer is required; this server is ${Math.floor(version / 10_000)}`);
    }
    const { rows: unsafe } = await session.runStatement(UNSAFE_SETTINGS, []);
    if (unsafe.length > 0 && options.allowUnsafeFsync !== true) {
      const names = unsafe.map((row) => `${String(row["name"])} off`).join(", ");
      throw new DatabaseUnusable(
        `the PostgreSQL server runs with ${names}: a power failure would lose committed payments`,
      );
    }
  } finally {
    await driver.releaseConnection(session);
  }
}
