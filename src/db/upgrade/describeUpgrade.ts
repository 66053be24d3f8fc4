import { sql } from "kysely";
import type { Db } from "../database.ts";
import { listMigrationsToApply } from "../migrate.ts";
import { migrations as allMigrations, type Migration } from "../migrations/list.ts";
import { array } from "../parameters.ts";
import { recordStatements, tablesOf } from "./recordStatements.ts";

/** A migration waits for a lock for five seconds at most, and every later statement on the table waits behind it. */
const LONG_TRANSACTION_SECONDS = 5;
const TRANSACTIONS_SHOWN_MAX = 20;
const QUERY_CHARS_MAX = 80;

/** A table with rows that a migration changes, locks or reads. */
export type UpgradedTable = { name: string; rows: number; bytes: number };
/** A transaction of another session that a migration would wait for. */
export type LongTransaction = { seconds: number; role: string; application: string; query: string };

export type UpgradeDescription = {
  /** In the order of their application. */
  migrations: string[];
  tables: UpgradedTable[];
  longTransactions: LongTransaction[];
};

/**
 * What the next start, or `tributary migrate`, does to the schema. Changes nothing, and takes no lock that a writer
 * waits for. Throws DatabaseUnusable when the database is newer, or its role may not migrate.
 */
export async function describeUpgrade(
  db: Db,
  at: Date,
  migrations: readonly Migration[] = allMigrations,
): Promise<UpgradeDescription> {
  const pending = await listMigrationsToApply(db, migrations);
  const names = new Set<string>();
  for (const migration of migrations.filter(({ name }) => pending.includes(name)))
    for (const statement of await recordStatements(migration))
      for (const table of tablesOf(statement)) names.add(table);
  const [tables, longTransactions] =
    pending.length === 0 ? [[], []] : await Promise.all([readTables(db, [...names]), readLongTransactions(db, at)]);
  return { migrations: pending, tables, longTransactions };
}

async function readTables(db: Db, names: readonly string[]): Promise<UpgradedTable[]> {
  const { rows } = await sql<UpgradedTable>`
    select relname as name, greatest(reltuples, 0)::float8 as rows, pg_total_relation_size(oid)::float8 as bytes from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname = any(${array(names, "text")})
    order by pg_total_relation_size(oid) desc, relname`.execute(db.root);
  return rows;
}

async function readLongTransactions(db: Db, at: Date): Promise<LongTransaction[]> {
  const { rows } = await sql<LongTransaction>`
    select extract(epoch from ${at}::timestamptz - xact_start)::float8 as seconds, coalesce(usename, '') as role,
      coalesce(application_name, '') as application, left(coalesce(query, ''), ${QUERY_CHARS_MAX}::int) as query
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and xact_start < ${at}::timestamptz - make_interval(secs => ${LONG_TRANSACTION_SECONDS}::float8)
    order by xact_start limit ${TRANSACTIONS_SHOWN_MAX}::int`.execute(db.root);
  return rows.map((row) => ({ ...row, query: row.query.replaceAll(/\s+/g, " ") }));
}
