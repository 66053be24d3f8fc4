import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { createPostgresDatabase, databases, openTestDatabase } from "../../test/support/database.ts";
import { openDatabase, type Db, type Tx } from "./database.ts";
import { isServiceBusy } from "../kernel/errors/classifyError.ts";
import { DatabaseUnusable } from "./errors.ts";

const raise = (state: string) => sql.raw(`do $$ begin raise exception 'on purpose' using errcode = '${state}'; end $$`);

async function countMarks(db: Db): Promise<bigint | undefined> {
  return (await sql<{ count: bigint }>`select count(*) from mark`.execute(db.root)).rows[0]?.count;
}

const addMark = (tx: Tx, name: string) => sql`insert into mark (name) values (${name})`.execute(tx);

for (const kind of databases) {
  describe(`a database handle on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind, { poolSizeMax: 3 });
      await sql`create table mark (name text primary key)`.execute(db.root);
    });
    after(() => db.close());

    test("a transaction that throws is rolled back, and rejects with the thrown error", async () => {
      const thrown = new Error("changed my mind");
      const attempt = db.transaction(async (tx) => {
        await addMark(tx, "undone");
        throw thrown;
      });
      await assert.rejects(attempt, thrown);
      assert.equal(await countMarks(db), 0n);
    });

    test("a transaction with a failed statement rejects, even when the caller swallowed the error", async () => {
      const attempt = db.transaction(async (tx) => {
        await addMark(tx, "swallowed");
        await raise("22012")
          .execute(tx)
          .catch(() => {});
      });
      await assert.rejects(attempt);
      assert.equal(await countMarks(db), 0n);
    });

    test("the error of a refused row names its constraint", async () => {
      const attempt = db.transaction(async (tx) => {
        await addMark(tx, "twice");
        await addMark(tx, "twice");
      });
      await assert.rejects(attempt, { code: "23505", constraint: "mark_pkey" });
    });

    test("numAffectedRows counts written rows only", async () => {
      const inserted = await sql`insert into mark (name) values ('a'), ('b')`.execute(db.root);
      const deleted = await sql`delete from mark`.execute(db.root);
      assert.deepEqual([inserted.numAffectedRows, deleted.numAffectedRows], [2n, 2n]);
    });

    test("concurrent transactions do not see each other's rows", async () => {
      const seen = await Promise.all(
        ["x", "y", "z"].map((name) =>
          db.transaction(async (tx) => {
            await addMark(tx, name);
            const { rows } = await sql<{ name: string }>`select name from mark where name <> ${name}`.execute(tx);
            await sql`delete from mark where name = ${name}`.execute(tx);
            return rows;
          }),
        ),
      );
      assert.deepEqual(seen, [[], [], []]);
    });

    test("the root handle inside a transaction throws at once, in nested calls too", async () => {
      const refusal = /root handle of the database was used inside an open transaction/;
      await db.transaction(async (tx) => {
        await assert.rejects(sql`select 1`.execute(db.root), refusal);
        await assert.rejects(countMarks(db), refusal);
        await assert.rejects(
          db.transaction(async () => 1),
          refusal,
        );
        await addMark(tx, "still usable");
      });
      assert.equal((await sql`delete from mark`.execute(db.root)).numAffectedRows, 1n);
    });

    test("work that outlives its transaction may use the root handle", async () => {
      const gate = Promise.withResolvers<void>();
      const result = await db.transaction(async () => ({ later: gate.promise.then(() => countMarks(db)) }));
      gate.resolve();
      assert.equal(await result.later, 0n);
    });

    test("another database may be used inside a transaction", async () => {
      const other = await openTestDatabase("postgres");
      after(() => other.close());
      assert.equal(
        await db.transaction(async () => (await other.root.selectFrom("event").selectAll().execute()).length),
        0,
      );
    });

    for (const state of ["40001", "40P01"]) {
      test(`a transaction that fails with ${state} runs again and commits once`, async () => {
        let runs = 0;
        await db.transaction(async (tx) => {
          await addMark(tx, "once");
          if (++runs < 3) await raise(state).execute(tx);
        });
        // The retry may take its first row before the winner wakes, and deadlock once more.
        assert.ok(runs >= 3, `${runs} runs`);
        assert.equal((await sql`delete from mark`.execute(db.root)).numAffectedRows, 1n);
      });
    }

    test("a transaction runs five times at most, and no other error is retried", async () => {
      const runsOf = async (state: string) => {
        let runs = 0;
        await assert.rejects(
          db.transaction(async (tx) => {
            runs++;
            await raise(state).execute(tx);
          }),
        );
        return runs;
      };
      assert.deepEqual([await runsOf("40001"), await runsOf("23505")], [5, 1]);
    });
  });
}

describe("several handles on one PostgreSQL server", () => {
  test("two transactions that deadlock both commit after a retry", async () => {
    const db = await openTestDatabase("postgres");
    after(() => db.close());
    await sql`create table tally (name text primary key, count int not null)`.execute(db.root);
    await sql`insert into tally values ('a', 0), ('b', 0)`.execute(db.root);
    const add = (tx: Tx, name: string) => sql`update tally set count = count + 1 where name = ${name}`.execute(tx);
    const bothHoldOne = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    let runs = 0;
    const cross = (order: readonly [string, string], [own, other]: typeof bothHoldOne) =>
      db.transaction(async (tx) => {
        runs++;
        await sql`set local deadlock_timeout = '20ms'`.execute(tx);
        await add(tx, order[0]);
        own.resolve();
        await other.promise;
        await add(tx, order[1]);
      });
    await Promise.all([cross(["a", "b"], bothHoldOne), cross(["b", "a"], [bothHoldOne[1], bothHoldOne[0]])]);
    const { rows } = await sql`select name, count from tally order by name`.execute(db.root);
    assert.deepEqual(rows, [
      { name: "a", count: 2 },
      { name: "b", count: 2 },
    ]);
    // The retry may take its first row before the winner wakes, and deadlock once more.
    assert.ok(runs >= 3, `${runs} runs`);
  });

  test("a lost connection rejects its call as unavailable, and the next call succeeds", async () => {
    const { url, drop } = await createPostgresDatabase();
    const db = await openDatabase({ url, allowUnsafeFsync: true });
    const cutter = await openDatabase({ url, allowUnsafeFsync: true });
    after(async () => {
      await Promise.all([db.close(), cutter.close()]);
      await drop();
    });
    const cut = db.transaction(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await sql`select pg_terminate_backend(${rows[0]?.pid ?? null}::int)`.execute(cutter.root);
      await sql`select 1`.execute(tx);
    });
    await assert.rejects(cut, isServiceBusy);
    assert.equal((await sql`select 1`.execute(db.root)).rows.length, 1);
  });

  test("a server that may lose committed transactions is refused", async () => {
    const { url, drop } = await createPostgresDatabase();
    after(drop);
    await assert.rejects(
      openDatabase({ url }),
      (error) =>
        error instanceof DatabaseUnusable &&
        /with fsync off, full_page_writes off, synchronous_commit off/.test(error.message),
    );
  });

  test("an unreachable server is reported as unavailable, and no connection stays open", async () => {
    await assert.rejects(openDatabase({ url: "postgres://nobody@127.0.0.1:1/none" }), isServiceBusy);
  });
});
