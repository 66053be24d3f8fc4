import pg from "pg";
import { createPooledDatabase, type Db } from "../../src/db/database.ts";
import { PooledDriver, type PostgresOptions } from "../../src/db/postgres/postgres.ts";
import { TransactionGuard } from "../../src/db/transactionGuard.ts";

// A test database costs a third of a second of processor time to copy and to drop, most of it for files. Emptying one
// costs a tenth of that. A session costs 30 milliseconds to open, and as much again to read the catalog, so the
// sessions of a database stay open for the tests that use it next.

/**
 * As many pages as the planner assumes for a table without statistics, so that a reused database has the plans of a new
 * one.
 */
const TABLE_PAGES_MAX = 10;

const TERMINATION_MS_MAX = 5_000;

/**
 * Changes with every definition, setting and statistic of the database. Deleted rows and sequences leave it as it is.
 */
const DEFINITIONS = `select md5(concat(
  (select string_agg(concat(oid, ' ', relname, ' ', relnatts, ' ', relchecks, ' ', relowner, ' ', relacl, ' ', reloptions, ' ',
    relhastriggers, ' ', relhasrules, ' ', relrowsecurity, ' ', relpersistence, ' ', reltuples), ',' order by oid) from pg_class),
  (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_attribute),
  (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_constraint),
  (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_trigger),
  (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_proc),
  (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_index),
  (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_type),
  (select count(*) from pg_statistic),
  (select count(*) from pg_db_role_setting where setdatabase <> 0)
)) as digest`;

const OTHER_SESSIONS = `select pg_terminate_backend(pid, ${TERMINATION_MS_MAX}) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()
    and (state <> 'idle' or application_name <> 'tributary')`;

const LARGE_TABLES = `select quote_ident(relname) as name from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace
    and pg_relation_size(oid) > ${TABLE_PAGES_MAX} * current_setting('block_size')::int`;

/** As nobody has ever counted the rows of a new table. */
const FORGET_SIZES = `update pg_class set relpages = 0, reltuples = -1, relallvisible = 0
  where relkind in ('r', 't') and (reltuples <> -1 or relpages <> 0)
    and (relnamespace = 'public'::regnamespace or oid in (select reltoastrelid from pg_class where relnamespace = 'public'::regnamespace))`;

/** What every copy of the template holds. */
export type NewState = { digest: string; restore: string };

/** Reads the state that `restoreNewState` restores, from a database that no test has used. */
export async function readNewState(url: string): Promise<NewState> {
  return withClient(url, async (client) => {
    const digest = await readDigest(client);
    const tables = await readNames(client, "select tablename as name from pg_tables where schemaname = 'public'");
    const sequences = await readNames(
      client,
      "select sequencename as name from pg_sequences where schemaname = 'public'",
    );
    const statements = ["set local session_replication_role = replica"];
    for (const table of tables) {
      statements.push(`delete from ${table}`);
      const { rows } = await client.query<{ rows: string | null }>(`select json_agg(r)::text as rows from ${table} r`);
      const stored = rows[0]?.rows ?? null;
      if (stored === null) continue;
      const text = client.escapeLiteral(stored);
      statements.push(
        `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, ${text})`,
      );
    }
    for (const sequence of sequences) {
      const { rows } = await client.query<{ value: string; isCalled: boolean }>(
        `select last_value::text as value, is_called as "isCalled" from ${sequence}`,
      );
      for (const { value, isCalled } of rows) statements.push(`select setval('${sequence}', ${value}, ${isCalled})`);
    }
    return { digest, restore: `begin; ${statements.join("; ")}; commit` };
  });
}

export class ReusedDatabase {
  readonly url: string;
  readonly #drop: () => Promise<void>;
  #sessions: PooledDriver | undefined;

  constructor({ url, drop }: { url: string; drop: () => Promise<void> }) {
    this.url = url;
    this.#drop = drop;
  }

  /** A handle of its own over the sessions that are open. Closing it closes none of them. */
  open(): Db {
    const options = { url: this.url, allowUnsafeFsync: true };
    const guard = new TransactionGuard();
    this.#sessions ??= new PooledDriver(options, new TransactionGuard());
    return createPooledDatabase(new LeasedDriver(options, { guard, sessions: this.#sessions }), guard);
  }

  /**
   * Ends sessions that are not idle and restores the rows. Returns false when a test changed more than rows, or stored
   * what cannot be removed.
   */
  async restore({ digest, restore }: NewState): Promise<boolean> {
    if (!this.#isIdle) await this.#endSessions();
    this.#sessions ??= new PooledDriver({ url: this.url, allowUnsafeFsync: true }, new TransactionGuard());
    const session = await this.#sessions.acquire();
    try {
      await session.client.query(OTHER_SESSIONS);
      await session.client.query(restore);
      if ((await readDigest(session.client)) !== digest) return false;
      const { rows } = await session.client.query<{ name: string }>(LARGE_TABLES);
      if (rows.length === 0) return true;
      await session.client.query(`vacuum ${rows.map(({ name }) => name).join(", ")}`);
      await session.client.query(FORGET_SIZES);
      return (await session.client.query(LARGE_TABLES)).rowCount === 0 && (await readDigest(session.client)) === digest;
    } finally {
      await this.#sessions.releaseConnection(session);
    }
  }

  async drop(): Promise<void> {
    await this.#endSessions();
    await this.#drop();
  }

  get #isIdle(): boolean {
    const { open = 0, idle = 0, waiting = 0 } = this.#sessions?.use ?? {};
    return idle === open && waiting === 0;
  }

  async #endSessions(): Promise<void> {
    await this.#sessions?.destroy();
    this.#sessions = undefined;
  }
}

/** Takes its sessions from another driver, until it is closed. */
class LeasedDriver extends PooledDriver {
  readonly #sessions: PooledDriver;
  #isClosed = false;

  constructor(options: PostgresOptions, { guard, sessions }: { guard: TransactionGuard; sessions: PooledDriver }) {
    super(options, guard);
    this.#sessions = sessions;
  }

  override get use() {
    return this.#sessions.use;
  }

  override async acquire() {
    if (this.#isClosed) throw new Error("the database of a test was used after its end");
    return this.#sessions.acquire();
  }

  override async destroy(): Promise<void> {
    this.#isClosed = true;
    await super.destroy();
  }
}

async function readDigest(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ digest: string }>(DEFINITIONS);
  return rows[0]?.digest ?? "";
}

async function readNames(client: pg.ClientBase, text: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(text);
  return rows.map(({ name }) => client.escapeIdentifier(name));
}

async function withClient<Result>(url: string, run: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
