import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { createDatabaseOn } from "../../../test/support/database.ts";
import { startServerPair, type ServerPair } from "../../../test/support/serverPair.ts";
import { openDatabase, type Db } from "../database.ts";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";

// A managed database switches to its standby: the old server goes on to answer reads, at connections that stay open.

const RETURN_MS_MAX = 10_000;

describe("a pool whose server becomes read-only while another one takes its place", () => {
  let pair: ServerPair;
  let writing: Db;
  let reading: Db;
  before(async () => {
    pair = await startServerPair();
    await createDatabaseOn(pair.primary, "service");
    const options = { url: pair.urlOf("service"), poolSizeMax: 4 };
    [writing, reading] = [await openDatabase(options), await openDatabase(options)];
    await sql`create table mark (name text primary key)`.execute(writing.root);
  });
  after(async () => {
    await Promise.all([writing.close(), reading.close()]);
    await pair.remove();
  });

  const insert = (name: string) => sql`insert into mark values (${name})`.execute(writing.root);
  const insertInTransaction = (name: string) =>
    writing.transaction(async (tx) => {
      await sql`select 1`.execute(tx);
      await sql`insert into mark values (${name})`.execute(tx);
    });
  const isOnStandby = async (db: Db) => {
    const { rows } = await sql<{ folder: string }>`select current_setting('data_directory') as folder`.execute(db.root);
    return rows[0]?.folder === pair.standby.dataDirectory;
  };

  test("writes and new sessions are refused as unavailable, and both pools return by themselves", async () => {
    // Every session of the pools is in use once.
    for (const db of [writing, reading])
      await Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.05)`.execute(db.root)));
    await insert("before");

    await pair.makePrimaryReadOnly();
    await assert.rejects(insertInTransaction("refused"), isServiceBusy);
    for (let tries = 0; tries < 6; tries += 1) await assert.rejects(insert("refused"), isServiceBusy);
    await assert.rejects(openDatabase({ url: pair.urlOf("service") }), isServiceBusy);

    await pair.promoteStandby();
    await insert("after");
    await insertInTransaction("after too");
    assert.equal(await isOnStandby(writing), true);
    const { rows } = await sql<{ name: string }>`select name from mark order by name`.execute(writing.root);
    assert.deepEqual(
      rows.map(({ name }) => name),
      ["after", "after too", "before"],
    );
    const deadline = performance.now() + RETURN_MS_MAX;
    while (!(await isOnStandby(reading).catch(() => false)) && performance.now() < deadline) await delay(50);
    const answers = await Promise.all(Array.from({ length: 8 }, () => isOnStandby(reading)));
    assert.deepEqual(new Set(answers), new Set([true]), "no session reads old rows");
  });
});
