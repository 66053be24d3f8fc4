import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CompiledQuery } from "kysely";
import { databases, openTestDatabase } from "../../../test/support/database.ts";
import type { Db } from "../database.ts";

for (const kind of databases) {
  describe(`a named statement on ${kind}`, () => {
    let db: Db;
    before(async () => {
      // One session, so that each execution finds what the one before has left there.
      db = await openTestDatabase(kind, { poolSizeMax: 1 });
    });
    after(() => db.close());

    const ask = (text: string, parameters: unknown[]) => db.root.executeQuery(CompiledQuery.raw(text, parameters));

    test("a named statement answers the first time and every other time alike", async () => {
      const text = `/* named: echo */ select $1::bigint as big, $2::timestamptz as at, $3::text as nothing`;
      const at = new Date("2026-11-21T10:00:00.123Z");
      for (const big of [1n, 2n, 3n]) {
        const { rows } = await ask(text, [big, at, null]);
        assert.deepEqual(rows, [{ big, at, nothing: null }]);
      }
    });

    test("one that fails, at its parameters or in its work, is well the next time", async () => {
      const text = `/* named: divide */ select 6 / $1::int as quotient`;
      await assert.rejects(ask(text, ["a word"]), { code: "22P02" });
      await assert.rejects(ask(text, [0]), { code: "22012" });
      assert.deepEqual((await ask(text, [2])).rows, [{ quotient: 3 }]);
      await assert.rejects(ask(text, [0]), { code: "22012" });
      assert.deepEqual((await ask(text, [3])).rows, [{ quotient: 2 }]);
    });

    test("one that has a mistake in its text says so each time", async () => {
      for (const times of [1, 2])
        await assert.rejects(ask(`/* named: mistake */ selekt $1`, [times]), { code: "42601" });
    });

    test("one that writes counts its rows, and one whose value cannot be read rejects", async () => {
      await ask("create table written (value text)", []);
      for (const value of ["a", "b"]) {
        const { numAffectedRows, rows } = await ask(`/* named: write */ insert into written values ($1)`, [value]);
        assert.deepEqual([numAffectedRows, rows], [1n, []]);
      }
      const fraction = `/* named: fraction */ select $1::numeric as fraction`;
      await assert.rejects(ask(fraction, ["0.5"]), RangeError);
      assert.deepEqual((await ask(fraction, ["5"])).rows, [{ fraction: 5n }]);
    });

    test("one that is done and cannot be committed rejects, and leaves nothing", async () => {
      await ask(
        "create table linked (id int primary key, to_id int references linked (id) deferrable initially deferred)",
        [],
      );
      const insert = `/* named: link */ insert into linked values ($1, $2) returning id`;
      await assert.rejects(ask(insert, [1, 2]), { code: "23503" });
      assert.deepEqual((await ask("select id from linked", [])).rows, []);
      assert.deepEqual((await ask(insert, [1, 1])).rows, [{ id: 1 }]);
    });

    if (kind === "postgres") {
      test("two texts of one name are refused, and the first goes on", async () => {
        await ask(`/* named: same */ select $1::int as one`, [1]);
        await assert.rejects(ask(`/* named: same */ select $1::int as other`, [1]), /must be unique - 'same'/);
        assert.deepEqual((await ask(`/* named: same */ select $1::int as one`, [2])).rows, [{ one: 2 }]);
      });

      test("a table that has changed under its statement is refused once and read anew after", async () => {
        await ask("create table changing as select 1 as id, 2 as value", []);
        const text = `/* named: changing */ select value from changing where id = $1`;
        assert.deepEqual((await ask(text, [1])).rows, [{ value: 2 }]);
        await ask("alter table changing alter column value type text", []);
        await assert.rejects(ask(text, [1]), { code: "0A000" });
        assert.deepEqual((await ask(text, [1])).rows, [{ value: "2" }]);
      });
    }
  });
}
