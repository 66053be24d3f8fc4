import type pg from "pg";
import { DatabaseReadOnly, DatabaseUnusable } from "../errors.ts";

const SERVER_VERSION_MIN = 150_000;

/** Neon's server stores nothing itself: its pages and its log are on other machines, and its `fsync` is off by design. */
const UNSAFE_SETTINGS = `
  select name from pg_settings
  where setting = 'off' and (name = 'synchronous_commit' or name in ('fsync', 'full_page_writes')
    and not exists (select from pg_settings where name = 'neon.timeline_id'))
  order by name
`;

/** True on a standby, and on a former primary that only serves reads now. */
export const IS_READ_ONLY = "pg_is_in_recovery() or current_setting('transaction_read_only')::boolean";

/** A server that left the network never answers: its session must not hold up its caller. */
const ANSWER_MS_MAX = 5_000;

type Rows = { rows: Record<string, unknown>[] };

/**
 * Prepares a session with `settings`, statements separated by semicolons. Throws DatabaseReadOnly when its server takes
 * no writes.
 */
export async function checkSession(client: pg.ClientBase, settings: readonly string[]): Promise<void> {
  const text = [...settings, `select ${IS_READ_ONLY} as "isReadOnly"`].join("; ");
  const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: ANSWER_MS_MAX };
  const results = await client.query(query);
  // pg types one result; several statements have one each.
  const last = [results as unknown as Rows | Rows[]].flat().at(-1);
  if (last?.rows[0]?.["isReadOnly"] !== false) throw new DatabaseReadOnly();
}

/**
 * Throws DatabaseUnusable when the session does not use the schema: it does not exist, the role may not use it, or a
 * pooler dropped the setting, and every statement would reach the tables of somebody else.
 */
export async function checkSchema(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ present: string | null }>("select current_schema() as present");
  const present = rows[0]?.present ?? null;
  if (present === schema) return;
  throw new DatabaseUnusable(
    present === null
      ? `there is no schema "${schema}" that the role of this database may use: create it with \`create schema ${schema}\`, or run \`tributary migrate\``
      : `sessions use the schema "${present}" instead of "${schema}": the URL sets another search_path, or a pooler between drops start-up options`,
  );
}

/**
 * Throws DatabaseUnusable when the server is too old, loses committed transactions on a power failure, or cannot store
 * every text.
 */
export async function checkServer(
  session: { runStatement(text: string, parameters: string[]): Promise<Rows> },
  { allowUnsafeFsync = false }: { allowUnsafeFsync?: boolean | undefined } = {},
): Promise<void> {
  const { rows } = await session.runStatement(
    "select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding",
    [],
  );
  const version = Number(rows[0]?.["version"]);
  if (version < SERVER_VERSION_MIN) {
    throw new DatabaseUnusable(`PostgreSQL 15 or newer is required; this server is ${Math.floor(version / 10_000)}`);
  }
  const encoding = String(rows[0]?.["encoding"]);
  if (encoding !== "UTF8") {
    throw new DatabaseUnusable(
      `the database has the encoding ${encoding} and must have UTF8, or names with other letters could not be stored: ` +
        "create another one with `create database … encoding 'UTF8' template template0`",
    );
  }
  const { rows: unsafe } = await session.runStatement(UNSAFE_SETTINGS, []);
  if (unsafe.length > 0 && !allowUnsafeFsync) {
    const names = unsafe.map((row) => `${String(row["name"])} off`).join(", ");
    throw new DatabaseUnusable(
      `the PostgreSQL server runs with ${names}: a power failure would lose committed payments; where its storage is safe all the same, accept it with "acceptRisks": ["unsafeFsync"]`,
    );
  }
}
