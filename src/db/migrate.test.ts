import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import { createPostgresDatabase, thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { openDatabase, type Db } from "./database.ts";
import { DatabaseUnusable } from "./errors.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { migrations, type Migration } from "./migrations/list.ts";

const appliedAt = new Date("2026-11-21T00:00:00Z");

const step = (name: string, statement: string): Migration => ({
  name,
  up: async (db) => void (await sql.raw(statement).execute(db)),
});
const first = step("9001_first", "create table first (name text)");
const second = step("9002_second", "create table second (name text)");
const failing: Migration = {
  name: "9002_second",
  async up(db) {
    await sql`create table half (name text)`.execute(db);
    await sql`select 1 / 0`.execute(db);
  },
};
const all = (...added: Migration[]) => [...migrations, ...added];

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename in ('first', 'second', 'half') order by 1
  `.execute(db.root);
  return rows.map((row) => row.name);
}

for (const kind of thoroughDatabases) {
  describe(`migrations on ${kind}`, () => {
    const open = async () => {
      const db = await openTestDatabase(kind);
      after(() => db.close());
      return db;
    };

    test("a test database is up to date", async () => {
      const db = await open();
      assert.deepEqual(await pendingMigrations(db), []);
      assert.deepEqual(await migrate(db, { appliedAt }), []);
    });

    test("a database that was made before 0.1.0 is refused with one sentence", async () => {
      const db = await open();
      await sql`insert into migration (name, applied_at) values ('0001_road', ${appliedAt})`.execute(db.root);
      const expected = { message: "the database was made before 0.1.0: start with an empty one" };
      for (const refused of [pendingMigrations(db), migrate(db, { appliedAt })])
        await assert.rejects(refused, expected);
    });

    test("each migration is applied once, in order, and recorded with its time", async () => {
      const db = await open();
      assert.deepEqual(await pendingMigrations(db, all(first, second)), [first.name, second.name]);
      assert.deepEqual(await migrate(db, { appliedAt, migrations: all(first, second) }), [first.name, second.name]);
      assert.deepEqual(await migrate(db, { appliedAt, migrations: all(first, second) }), []);
      const { rows } = await sql`select applied_at from migration where name = ${first.name}`.execute(db.root);
      assert.deepEqual(rows, [{ applied_at: appliedAt }]);
    });

    test("a failed migration is rolled back, and the ones before it stay", async () => {
      const db = await open();
      await assert.rejects(migrate(db, { appliedAt, migrations: all(first, failing) }), /division by zero/);
      assert.deepEqual(await tablesOf(db), ["first"]);
      assert.deepEqual(await migrate(db, { appliedAt, migrations: all(first, second) }), [second.name]);
    });

    test("a database newer than the program is refused, and the error names the migration", async () => {
      const db = await open();
      await migrate(db, { appliedAt, migrations: all(first) });
      await assert.rejects(
        migrate(db, { appliedAt }),
        (error) => error instanceof DatabaseUnusable && /9001_first/.test(error.message),
      );
    });

    test("a database with a later migration but without an earlier one is refused", async () => {
      const db = await open();
      await migrate(db, { appliedAt, migrations: all(second) });
      await assert.rejects(migrate(db, { appliedAt, migrations: all(first, second) }), DatabaseUnusable);
    });
  });
}

test("several processes migrate an empty database at once, and each migration is applied once", async () => {
  const { url, drop } = await createPostgresDatabase("empty");
  const handles = await Promise.all(
    Array.from({ length: 4 }, () => openDatabase({ url, allowUnsafeFsync: true, poolSizeMax: 2 })),
  );
  after(async () => {
    await Promise.all(handles.map((db) => db.close()));
    await drop();
  });
  const applied = await Promise.all(handles.map((db) => migrate(db, { appliedAt, migrations: all(first, second) })));
  assert.deepEqual(
    applied.flat().toSorted(),
    all(first, second).map((migration) => migration.name),
  );
});
