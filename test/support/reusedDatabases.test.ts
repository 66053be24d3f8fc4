import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import type { Db } from "../../src/db/database.ts";
import { openTestDatabase } from "./database.ts";
import { insertIntent } from "./intents.ts";
import { databaseUrl } from "./postgres.ts";

/** Uses a database, closes it, and opens the next one. Returns the name of the first and the next one. */
async function useDatabase(use: (db: Db) => Promise<unknown>): Promise<{ used: string; next: Db }> {
  const db = await openTestDatabase("postgres");
  const used = await nameOf(db);
  await use(db);
  await db.close();
  return { used, next: await openTestDatabase("postgres") };
}

async function nameOf(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db.root);
  return rows[0]?.name ?? "";
}

async function countVersions(db: Db): Promise<number> {
  return (await db.root.selectFrom("merchant_version").selectAll().execute()).length;
}

describe("test databases", () => {
  test("a closed database is emptied for the next test: no row is left, and its numbers start again", async () => {
    const { used, next } = await useDatabase(async (db) => {
      assert.equal((await insertIntent(db)).seq, 1n);
      await db.root.deleteFrom("merchant_version").execute();
      assert.equal(await countVersions(db), 0);
    });
    assert.equal(await nameOf(next), used);
    for (const table of ["intent", "inbox", "account", "event"] as const)
      assert.deepEqual(await next.root.selectFrom(table).selectAll().execute(), [], table);
    assert.equal(await countVersions(next), 1);
    assert.equal((await insertIntent(next)).seq, 1n);
    await next.close();
  });

  for (const change of [
    "create table another (name text)",
    "create function another() returns int language sql as 'select 1'",
    "alter table intent add constraint poison check (id <> 'poison')",
    "alter table ledger_posting disable trigger user",
    "drop index intent_occupied_destination",
    "analyze merchant_version",
    "do $$ begin execute format('alter database %I set work_mem = 1234', current_database()); end $$",
  ])
    test(`a database after "${change}" is not used again`, async () => {
      const { used, next } = await useDatabase((db) => sql.raw(change).execute(db.root));
      assert.notEqual(await nameOf(next), used);
      await next.close();
    });

  test("a large table is as small as a new one when its database is used again, so that its plans are the same", async () => {
    const planOf = async (db: Db) =>
      (await sql`explain select * from rate_log where key > '4'`.execute(db.root)).rows.map((row) =>
        JSON.stringify(row),
      );
    const fresh = await openTestDatabase("postgres");
    const expected = await planOf(fresh);
    const { used, next } = await useDatabase(async (db) => {
      await sql`insert into rate_log select number, '{}', 0, 0, '' from generate_series(1, 5000) as number`.execute(
        db.root,
      );
      assert.notDeepEqual(await planOf(db), expected);
    });
    assert.equal(await nameOf(next), used);
    assert.deepEqual(await planOf(next), expected);
    await next.close();
    await fresh.close();
  });

  test("a session that is still open ends before the database is used again", async () => {
    let session: pg.Client | undefined;
    const { used, next } = await useDatabase(async (db) => {
      const { rows } = await sql<{
        folder: string;
      }>`select current_setting('unix_socket_directories') as folder`.execute(db.root);
      session = new pg.Client({ connectionString: databaseUrl(rows[0]?.folder ?? "", await nameOf(db)) });
      session.on("error", () => undefined);
      await session.connect();
      await session.query("begin; insert into rate_log values ('open', '{}', 0, 0, '')");
    });
    assert.equal(await nameOf(next), used);
    await assert.rejects(async () => session?.query("commit"));
    assert.deepEqual(await next.root.selectFrom("rate_log").selectAll().execute(), []);
    await next.close();
  });
});
