import pg from "pg";

// A test database costs a fifth of a second of processor time to copy and to drop, most of it for files. Emptying one
// costs a tenth of that.

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
  (select string_agg(concat(oid, ' ', xmin, ' ', reltuples), ',' order by oid) from pg_class),
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
  where datname = current_database() and pid <> pg_backend_pid()`;

const LARGE_TABLES = `select count(*)::int as count from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace
    and pg_relation_size(oid) > ${TABLE_PAGES_MAX} * current_setting('block_size')::int`;

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
    const statements = ["set session_replication_role = replica"];
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

/**
 * Ends the database's sessions and restores its rows. Returns false when a test changed more than rows, or stored many.
 */
export async function restoreNewState(url: string, state: NewState): Promise<boolean> {
  return withClient(url, async (client) => {
    await client.query(OTHER_SESSIONS);
    const { rows } = await client.query<{ count: number }>(LARGE_TABLES);
    if (rows[0]?.count !== 0) return false;
    await client.query(state.restore);
    return (await readDigest(client)) === state.digest;
  });
}

async function readDigest(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ digest: string }>(DEFINITIONS);
  return rows[0]?.digest ?? "";
}

async function readNames(client: pg.Client, text: string): Promise<string[]> {
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
