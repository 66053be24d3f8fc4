import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import type { Db, Tx } from "../db/database.ts";
import { addMs, DAY_MS, systemClock, type Clock } from "../kernel/clock.ts";
import { runIdempotent } from "./runIdempotent.ts";
import { hashRequest, type IdempotentRequest } from "./idempotentRequest.ts";
import { purgeExpired } from "./purgeExpired.ts";

const startedAt = new Date("2026-11-01T12:00:00Z");
const table = "create table done (number int generated always as identity, body text)";

let requestCount = 0;
const newRequest = (request: unknown = {}): IdempotentRequest => ({
  accountId: "acct_a",
  operation: "create",
  key: `key ${requestCount++}`,
  requestHash: hashRequest(request),
});

/** Inserts a row at each execution. */
const operation = {
  run: async (tx: Tx) => {
    const { rows } = await sql<{ number: number }>`insert into done (body) values ('x') returning number`.execute(tx);
    return { status: 201, body: { number: rows[0]?.number }, secrets: { token: "first" } };
  },
  renewSecrets: async () => ({ token: "fresh" }),
};

for (const kind of thoroughDatabases) {
  describe(`idempotent requests on ${kind}`, () => {
    let db: Db;
    let world: { db: Db; clock: Clock };
    let passedMs = 0;
    before(async () => {
      db = await openTestDatabase(kind);
      world = { db, clock: { ...systemClock, now: () => addMs(startedAt, passedMs) } };
      await sql.raw(table).execute(db.root);
    });
    beforeEach(() => sql`truncate done`.execute(db.root));
    after(() => db.close());

    const executions = async () => (await sql`select 1 from done`.execute(db.root)).rows.length;

    test("D17 a repeated request runs once, and each replay returns the same body with new secrets", async () => {
      const request = newRequest();
      const first = await runIdempotent(world, request, operation);
      const { number } = first.body as { number: number };
      assert.deepEqual(first, { status: 201, body: { number, token: "first" }, isReplayed: false });
      for (let repeat = 0; repeat < 20; repeat += 1) {
        const again = await runIdempotent(world, request, operation);
        assert.deepEqual(again, { status: 201, body: { number, token: "fresh" }, isReplayed: true });
      }
      assert.equal(await executions(), 1);
      const { rows } = await sql`select * from idempotent_answer where key = ${request.key}`.execute(db.root);
      assert.doesNotMatch(JSON.stringify(rows), /first|fresh/);
    });

    test("D17 concurrent copies of a request run once", async () => {
      const request = newRequest();
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () => runIdempotent(world, request, operation)),
      );
      const isBusy = (reason: unknown) => Reflect.get(Object(reason), "code") === "request_in_progress";
      assert.ok(results.every((result) => result.status === "fulfilled" || isBusy(result.reason)));
      assert.equal(await executions(), 1);
    });

    test("D17 the key belongs to one request, of one account and operation", async () => {
      const request = newRequest({ priceUnits: 5 });
      await runIdempotent(world, request, operation);
      const other = { ...request, requestHash: hashRequest({ priceUnits: 6 }) };
      await assert.rejects(runIdempotent(world, other, operation), { code: "idempotency_key_reuse" });
      assert.equal(await executions(), 1);
      for (const difference of [{ accountId: "acct_b" }, { operation: "archive" }, { key: "another" }]) {
        assert.equal((await runIdempotent(world, { ...other, ...difference }, operation)).isReplayed, false);
      }
      assert.equal(await executions(), 4);
    });

    test("D17 a failed request stores nothing, and a repeat runs it", async () => {
      const request = newRequest();
      const failing = {
        run: async (tx: Tx) => {
          await operation.run(tx);
          throw new Error("no");
        },
      };
      await assert.rejects(runIdempotent(world, request, failing), /no/);
      assert.equal(await executions(), 0);
      assert.equal((await runIdempotent(world, request, operation)).isReplayed, false);
    });

    test("D17 a key is free again after 24 hours, whether or not its row was removed", async () => {
      const [kept, removed, young] = [newRequest(), newRequest(), newRequest()];
      await runIdempotent(world, kept, operation);
      passedMs += DAY_MS - 1;
      assert.equal((await runIdempotent(world, kept, operation)).isReplayed, true);
      passedMs += 1;
      const again = await runIdempotent(world, { ...kept, requestHash: hashRequest("other") }, operation);
      assert.equal(again.isReplayed, false);
      await runIdempotent(world, removed, operation);
      passedMs += DAY_MS;
      await runIdempotent(world, young, operation);
      await purgeExpired(world, 1_000);
      const { rows } = await sql<{ key: string }>`select key from idempotent_answer`.execute(db.root);
      assert.deepEqual(rows, [{ key: young.key }]);
      assert.equal((await runIdempotent(world, removed, operation)).isReplayed, false);
    });
  });
}

test("equal JSON in different notations has one hash", () => {
  const hash = (text: string) => Buffer.from(hashRequest(JSON.parse(text))).toString("hex");
  assert.equal(hash('{"a":{"x":1,"y":[5.0,2]},"b":null}'), hash('{"b":null,"a":{"y":[5,2],"x":1}}'));
  const different = ["{}", '{"a":1}', '{"a":"1"}', '{"a":[1]}', '{"a":[1,2]}', '{"a":[2,1]}', '{"a":{"0":1}}', "[]"];
  assert.equal(new Set(different.map(hash)).size, different.length);
});

describe("idempotent requests on several connections", () => {
  let db: Db;
  before(async () => {
    db = await openTestDatabase("postgres");
    await sql.raw(table).execute(db.root);
  });
  after(() => db.close());

  test("D17 while a request runs, a copy of it gets request_in_progress and another request runs", async () => {
    const world = { db, clock: systemClock };
    const [running, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = {
      run: async (tx: Tx) => {
        running.resolve();
        await proceed.promise;
        return operation.run(tx);
      },
    };
    const request = newRequest();
    const first = runIdempotent(world, request, slow);
    await running.promise;
    try {
      await assert.rejects(runIdempotent(world, request, operation), { code: "request_in_progress", retryAfterS: 1 });
      assert.equal((await runIdempotent(world, newRequest(), operation)).isReplayed, false);
    } finally {
      proceed.resolve();
    }
    assert.equal((await first).isReplayed, false);
    assert.equal((await runIdempotent(world, request, operation)).isReplayed, true);
  });

  test("a request whose connection dies stores nothing, and a repeat runs it once", async () => {
    const world = { db, clock: systemClock };
    await sql`truncate done`.execute(db.root);
    const request = newRequest();
    const dying = {
      run: async (tx: Tx) => {
        const result = await operation.run(tx);
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
        return result;
      },
    };
    await assert.rejects(runIdempotent(world, request, dying));
    assert.equal((await runIdempotent(world, request, operation)).isReplayed, false);
    assert.equal((await runIdempotent(world, request, operation)).isReplayed, true);
    assert.equal((await sql`select 1 from done`.execute(db.root)).rows.length, 1);
  });
});
