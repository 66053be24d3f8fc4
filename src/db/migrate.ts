import { sql, type Kysely, type QueryExecutorProvider } from "kysely";
import type { Db, Tx } from "./database.ts";
import { DatabaseUnusable } from "./errors.ts";
import { migrations as allMigrations, type Migration } from "./migrations/list.ts";

/** The number of the advisory lock under which the schema is changed; any number does, as long as it stays. */
const MIGRATION_LOCK = 7_274_836;

export type MigrateOptions = {
  /** What is recorded as the time of each step. */
  appliedAt: Date;
  /** The steps; those of this program when left out. */
  migrations?: readonly Migration[];
};

/**
 * Brings the schema up to date, each step in a transaction of its own, and returns the names of the steps that this call took.
 * Several processes may do it at once: they take turns, and each step is taken once. Throws DatabaseUnusable when the
 * database knows steps that this program does not, which means that a newer one has been here.
 */
export async function migrate(db: Db, options: MigrateOptions): Promise<string[]> {
  const { appliedAt, migrations = allMigrations } = options;
  const applied: string[] = [];
  for (let step = 0; step < migrations.length; step++) {
    const name = await db.transaction((tx) => applyNext(tx, { appliedAt, migrations }));
    if (name === undefined) break;
    applied.push(name);
  }
  return applied;
}

/** The names of the steps that the database has not taken yet. Changes nothing. */
export async function pendingMigrations(db: Db, migrations: readonly Migration[] = allMigrations): Promise<string[]> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('migration') is not null as exists`.execute(
    db.root,
  );
  const applied = rows[0]?.exists === true ? await appliedNames(db.root) : [];
  return listPending(applied, migrations).map((migration) => migration.name);
}

async function applyNext(tx: Tx, { appliedAt, migrations }: Required<MigrateOptions>): Promise<string | undefined> {
  // A step may run long, and so may the wait for another process that takes one.
  await sql`set local statement_timeout = 0`.execute(tx);
  await sql`set local lock_timeout = 0`.execute(tx);
  await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(tx);
  await sql`create table if not exists migration (name text primary key, applied_at timestamptz not null)`.execute(tx);
  const next = listPending(await appliedNames(tx), migrations)[0];
  if (next === undefined) return undefined;
  // While a step changes a table nobody gets at it, so it must not queue for long behind somebody who holds one.
  await sql`set local lock_timeout = 5000`.execute(tx);
  // A step is written without the schema type, which describes the end of the list and not the middle.
  await next.up(tx as unknown as Kysely<unknown>);
  await sql`insert into migration (name, applied_at) values (${next.name}, ${appliedAt})`.execute(tx);
  return next.name;
}

async function appliedNames(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from migration order by name`.execute(db);
  return rows.map((row) => row.name);
}

function listPending(applied: readonly string[], migrations: readonly Migration[]): readonly Migration[] {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new DatabaseUnusable(
      `the database is newer than this program: it has taken ${unknown.join(", ")}, which this program does not know`,
    );
  }
  const left = migrations.filter((migration) => !applied.includes(migration.name));
  const gap = left.find((migration) => migrations.indexOf(migration) < applied.length);
  if (gap !== undefined) throw new DatabaseUnusable(`the database has taken later steps, but not ${gap.name}`);
  return left;
}
