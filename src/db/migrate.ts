import { sql, type Kysely, type QueryExecutorProvider } from "kysely";
import type { Db, Tx } from "./database.ts";
import { DatabaseUnusable, isForbidden } from "./errors.ts";
import { migrations as allMigrations, type Migration } from "./migrations/list.ts";

/**
 * The first half of the key of the advisory lock around migrations. Locks belong to the database, so the second half is
 * the schema. The value is arbitrary and must never change.
 */
const MIGRATION_LOCK = 7_274_836;

/** In every database of the time before the first release. Its tables have other names. */
const FIRST_BEFORE_RELEASE = "0001_road";

export type MigrateOptions = {
  /** The time to record for each migration. */
  appliedAt: Date;
  /** The migrations to apply; this program's own by default. */
  migrations?: readonly Migration[];
};

/**
 * Brings the schema up to date, each migration in a transaction of its own. Returns the names of the migrations that
 * this call applied. Concurrent calls take turns under a lock, and each migration is applied once. Throws
 * DatabaseUnusable when the database has a migration that this program does not know, because then a newer version has
 * used it.
 */
export async function migrate(db: Db, options: MigrateOptions): Promise<string[]> {
  const { appliedAt, migrations = allMigrations } = options;
  // A role that may only use the tables serves a schema that another role has migrated.
  if ((await listMigrationsToApply(db, migrations)).length === 0) return [];
  const applied: string[] = [];
  for (let step = 0; step < migrations.length; step++) {
    const name = await db.transaction((tx) => applyNext(tx, { appliedAt, migrations })).catch(explainRefusal);
    if (name === undefined) break;
    applied.push(name);
  }
  return applied;
}

/**
 * Collects statistics of all tables of the schema, because a migration may have rewritten tables that hold rows. Leaves
 * out a table that another session works on, or that another role owns: the server analyses it later by itself. Changes
 * no rows.
 */
export async function analyzeTables(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relation.relname as name from pg_class relation
    where relation.relnamespace = current_schema()::regnamespace and relation.relkind = 'r'
      and pg_has_role(relation.relowner, 'USAGE')
    order by relation.relname`.execute(db.root);
  for (const { name } of rows)
    await db.transaction(async (tx) => {
      // A sample of a large table takes longer than a statement may.
      await sql`set local statement_timeout = 0`.execute(tx);
      await sql`analyze (skip_locked) ${sql.table(name)}`.execute(tx);
    });
}

/**
 * Same as pendingMigrations, but throws DatabaseUnusable when there are some that the role of this database may not
 * apply.
 */
export async function listMigrationsToApply(db: Db, migrations?: readonly Migration[]): Promise<string[]> {
  const pending = await pendingMigrations(db, migrations);
  if (pending.length === 0) return pending;
  const { rows } = await sql<{ role: string; schema: string | null; mayCreate: boolean | null }>`
    select current_user as role, current_schema() as schema,
      has_schema_privilege(current_user, current_schema(), 'CREATE') as "mayCreate"`.execute(db.root);
  const { role = "", schema = null, mayCreate = null } = rows[0] ?? {};
  if (mayCreate === true) return pending;
  const name = schema === null ? "a schema of its search_path, because none exists" : `the schema "${schema}"`;
  throw new DatabaseUnusable(
    `the role "${role}" may not create tables in ${name}: grant it CREATE there, or run \`tributary migrate\` as a role that may`,
  );
}

/** Tables of an earlier migration may belong to another role. */
function explainRefusal(error: unknown): never {
  if (!isForbidden(error)) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  throw new DatabaseUnusable(
    `the role of this database may not migrate it (${reason}): run \`tributary migrate\` as the role that owns the tables`,
    { cause: error },
  );
}

/** Returns the names of the migrations that the database lacks. Changes nothing. */
export async function pendingMigrations(db: Db, migrations: readonly Migration[] = allMigrations): Promise<string[]> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('migration') is not null as exists`.execute(
    db.root,
  );
  const applied = rows[0]?.exists === true ? await appliedNames(db.root) : [];
  return listPending(applied, migrations).map((migration) => migration.name);
}

async function applyNext(tx: Tx, { appliedAt, migrations }: Required<MigrateOptions>): Promise<string | undefined> {
  // A migration may run long, and so may the wait for another process that applies one.
  await sql`set local statement_timeout = 0`.execute(tx);
  await sql`set local lock_timeout = 0`.execute(tx);
  await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK}::int4, hashtext(current_schema()))`.execute(tx);
  await sql`create table if not exists migration (name text primary key, applied_at timestamptz not null)`.execute(tx);
  const next = listPending(await appliedNames(tx), migrations)[0];
  if (next === undefined) return undefined;
  // A migration that waits for a table lock blocks every later statement on the table, so it must not wait long.
  await sql`set local lock_timeout = 5000`.execute(tx);
  // Migrations run without the schema types, which describe the schema after the last one.
  await next.up(tx as unknown as Kysely<unknown>);
  await sql`insert into migration (name, applied_at) values (${next.name}, ${appliedAt})`.execute(tx);
  return next.name;
}

async function appliedNames(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from migration order by name`.execute(db);
  return rows.map((row) => row.name);
}

function listPending(applied: readonly string[], migrations: readonly Migration[]): readonly Migration[] {
  if (applied.includes(FIRST_BEFORE_RELEASE))
    throw new DatabaseUnusable("the database was made before 0.1.0: start with an empty one");
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new DatabaseUnusable(
      `the database is newer than this program: this program does not know its migrations ${unknown.join(", ")}`,
    );
  }
  const pending = migrations.filter((migration) => !applied.includes(migration.name));
  const gap = pending.find((migration) => migrations.indexOf(migration) < applied.length);
  if (gap !== undefined) throw new DatabaseUnusable(`the database has later migrations, but lacks ${gap.name}`);
  return pending;
}
