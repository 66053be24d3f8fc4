import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CompiledQuery, sql } from "kysely";
import { openTestDatabase } from "../../../test/support/database.ts";
import type { Db } from "../database.ts";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";
import { StatementBatch } from "./statementBatch.ts";

const ECHO = `/* shared: echo */ select $1::int as value, pg_backend_pid() as session, transaction_timestamp() as began`;
const DIVIDE = `/* shared: divide */ select 6 / $1::int as quotient`;

type Echo = { value: number; session: number; began: Date };

describe("statements in batches", () => {
  test("those of one turn go together, and each gets its own result", async () => {
    await withDatabase(async (ask) => {
      for (const count of [1, 3, 40]) {
        const values = Array.from({ length: count }, (_, value) => value);
        const answers = await Promise.all(values.map((value) => ask<Echo>(ECHO, value)));
        assert.deepEqual(
          answers.map(({ value }) => value),
          values,
        );
        const batches = new Set(answers.map(({ session, began }) => `${session} ${began.toISOString()}`));
        assert.equal(batches.size, Math.ceil(count / 32));
      }
    });
  });

  test("one that fails does so alone, wherever it stands among others", async () => {
    await withDatabase(async (ask) => {
      for (const divisors of [[0], [0, 1, 2], [1, 0, 2], [1, 2, 0], [0, 0, 3, 0], ["a word", 1, 0, 2]]) {
        const settled = await Promise.allSettled(divisors.map((divisor) => ask<{ quotient: number }>(DIVIDE, divisor)));
        assert.deepEqual(
          settled.map((one) =>
            one.status === "fulfilled" ? one.value.quotient : (one.reason as { code: string }).code,
          ),
          divisors.map((divisor) => (typeof divisor === "string" ? "22P02" : divisor === 0 ? "22012" : 6 / divisor)),
        );
      }
    });
  });

  test("a value that cannot be sent, and one that cannot be read, are their own caller's matter", async () => {
    await withDatabase(async (ask) => {
      const text = `/* shared: number */ select $1::numeric as value`;
      const settled = await Promise.allSettled(["\0", "0.5", "7"].map((value) => ask(text, value)));
      assert.deepEqual(
        settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).name)),
        ["RangeError", "RangeError", { value: 7n }],
      );
    });
  });

  test("where the server ends the connection, the one that it was at fails, and the others run again", async () => {
    await withDatabase(async (ask, db) => {
      const sleep = `/* shared: sleep */ select pg_sleep($1::int)::text as slept`;
      const waiting = Promise.allSettled([ask(sleep, 0), ask(sleep, 600), ask(sleep, 0)]);
      const end = sql<{ count: number }>`
        select count(pg_terminate_backend(pid))::int as count from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'`;
      let count = 0;
      while (count === 0) count = (await end.execute(db.root)).rows[0]?.count ?? 0;
      const settled = await waiting;
      assert.deepEqual(
        settled.map((one) => (one.status === "fulfilled" ? one.value : isServiceBusy(one.reason))),
        [{ slept: "" }, true, { slept: "" }],
      );
    });
  });

  test("where a connection breaks, or what was done cannot be kept, all of them fail", async () => {
    for (const [answered, reason] of [
      [1, new Error("Connection terminated unexpectedly")],
      [3, new Error("Connection terminated unexpectedly")],
      [3, Object.assign(new Error("terminating connection"), { severity: "FATAL", code: "57P01" })],
    ] as const) {
      const batch = new StatementBatch("echo", ECHO, [["1"], ["2"], ["3"]]);
      for (let times = 0; times < answered; times += 1) batch.handleCommandComplete({ text: "SELECT 0" });
      batch.handleError(reason);
      const rejected = { status: "rejected", reason };
      assert.deepEqual(await batch.outcomes, [rejected, rejected, rejected]);
    }
  });

  test("a table that has changed under its statement is refused once and read anew after", async () => {
    await withDatabase(async (ask, db) => {
      await sql`create table changing as select 1 as id, 2 as value`.execute(db.root);
      const text = `/* shared: changing */ select value from changing where id = $1`;
      assert.deepEqual(await ask(text, 1), { value: 2 });
      await sql`alter table changing alter column value type text`.execute(db.root);
      const settled = await Promise.allSettled([ask(text, 1), ask(text, 1)]);
      assert.deepEqual(
        settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as { code: string }).code)),
        ["0A000", { value: "2" }],
      );
    });
  });

  test("inside a transaction it is part of it, and on the root handle refused there", async () => {
    await withDatabase(async (ask, db) => {
      await db.transaction(async (tx) => {
        const { rows } = await tx.executeQuery<Echo>(CompiledQuery.raw(ECHO, [1]));
        const { rows: own } = await sql<{ session: number }>`select pg_backend_pid() as session`.execute(tx);
        assert.equal(rows[0]?.session, own[0]?.session);
        await assert.rejects(ask(ECHO, 1), /inside an open transaction/);
      });
    });
  });
});

type Ask = <Row>(text: string, parameter: unknown) => Promise<Row>;

async function withDatabase(run: (ask: Ask, db: Db) => Promise<void>): Promise<void> {
  const db = await openTestDatabase("postgres");
  try {
    await run(async <Row>(text: string, parameter: unknown) => {
      const { rows } = await db.root.executeQuery<Row>(CompiledQuery.raw(text, [parameter]));
      const [row] = rows;
      assert.ok(row);
      return row;
    }, db);
  } finally {
    await db.close();
  }
}
