import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fc } from "../../test/support/properties.ts";
import { sql, type RawBuilder } from "kysely";
import { databases, openTestDatabase } from "../../test/support/database.ts";
import type { Db } from "./database.ts";
import { array, assertJsonDepth, encodeParameter, json, JSON_DEPTH_MAX } from "./parameters.ts";

const NUMERIC_MAX = 10n ** 78n - 1n;

/** Returns arrays nested `levels` deep. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

for (const kind of databases) {
  describe(`values on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind, { poolSizeMax: 2 });
    });
    after(() => db.close());

    async function valueOf<T>(expression: RawBuilder<T>): Promise<T | undefined> {
      const { rows } = await sql<{ value: T }>`select ${expression} as value`.execute(db.root);
      return rows[0]?.value;
    }

    const returned: [name: string, expression: RawBuilder<unknown>, value: unknown][] = [
      ["the largest amount", sql`${NUMERIC_MAX}::numeric(78,0)`, NUMERIC_MAX],
      ["a negative int8", sql`${-(2n ** 63n)}::int8`, -(2n ** 63n)],
      ["a count, which is an int8", sql`(select count(*) from event)`, 0n],
      ["an int4", sql`${42}::int4`, 42],
      ["a fraction in a float", sql`${0.1}::float8`, 0.1],
      ["a boolean", sql`${false}::boolean`, false],
      ["bytes", sql`${new Uint8Array([0, 92, 255])}::bytea`, new Uint8Array([0, 92, 255])],
      ["no bytes", sql`${new Uint8Array()}::bytea`, new Uint8Array()],
      [
        "an instant to the millisecond",
        sql`${new Date("2026-11-21T03:04:05.678Z")}::timestamptz`,
        new Date("2026-11-21T03:04:05.678Z"),
      ],
      ["null", sql`${null}::text`, null],
      ["text as it is", sql`${"{a,\"b\\'} \u202e €😀\n"}::text`, "{a,\"b\\'} \u202e €😀\n"],
      ["an object", sql`${{ a: [1, { b: null }] }}::jsonb`, { a: [1, { b: null }] }],
      ["an object in a json column", sql`${{ z: 1, a: 2 }}::json`, { z: 1, a: 2 }],
      ["a JSON array", json([1, "two", null]), [1, "two", null]],
      ["a JSON string", json("null"), "null"],
      ["JSON null", json(null), null],
      ["an array of amounts", array([1n, null, NUMERIC_MAX], "numeric"), [1n, null, NUMERIC_MAX]],
      ["an array of texts", array(["", "NULL", null, 'a"b\\c,{}'], "text"), ["", "NULL", null, 'a"b\\c,{}']],
      ["an array of bytes", array([new Uint8Array([1, 2]), null], "bytea"), [new Uint8Array([1, 2]), null]],
      ["an array of instants", array([new Date(0)], "timestamptz"), [new Date(0)]],
      ["an array of booleans", array([true, false], "boolean"), [true, false]],
      ["an empty array", array([], "text"), []],
      [
        "a matrix",
        sql`${[
          [1n, 2n],
          [3n, 4n],
        ]}::int8[]`,
        [
          [1n, 2n],
          [3n, 4n],
        ],
      ],
    ];

    for (const [name, expression, value] of returned) {
      test(`${name} round-trips unchanged`, async () => {
        assert.deepStrictEqual(await valueOf(expression), value);
      });
    }

    test("arrays become rows, side by side", async () => {
      const columns = sql`${array(["a", "b"], "text")}, ${array([1n, 2n], "numeric")}, ${array([new Uint8Array([7]), null], "bytea")}`;
      const { rows } = await sql`select * from unnest(${columns}) as t(name, units, bytes)`.execute(db.root);
      assert.deepStrictEqual(rows, [
        { name: "a", units: 1n, bytes: new Uint8Array([7]) },
        { name: "b", units: 2n, bytes: null },
      ]);
    });

    test("any text and any bytes round-trip unchanged in an array", async () => {
      const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0"));
      await fc.assert(
        fc.asyncProperty(fc.array(fc.option(text)), fc.array(fc.uint8Array()), async (texts, bytes) => {
          assert.deepStrictEqual(await valueOf(array(texts, "text")), texts);
          assert.deepStrictEqual(await valueOf(array(bytes, "bytea")), bytes);
        }),
        { numRuns: 50 },
      );
    });

    test("a fraction in a numeric is an error, not a rounded amount", async () => {
      await assert.rejects(valueOf(sql`1.5::numeric`), /expected an integer from the database, got 1\.5/);
    });

    test("a value nested too deep is refused before it reaches the database, which keeps working", async () => {
      await assert.rejects(valueOf(sql`${{ deep: nested(50_000) }}::jsonb`), RangeError);
      assert.equal(await valueOf(sql`1`), 1);
    });
  });
}

describe("encodeParameter", () => {
  test("throws for values without a lossless text", () => {
    for (const value of [
      undefined,
      Number.NaN,
      Infinity,
      2 ** 53,
      "a\0b",
      "\ud800",
      () => 1,
      Symbol("s"),
      { units: 1n },
    ]) {
      assert.throws(() => encodeParameter(value), typeof value);
    }
    assert.throws(() => encodeParameter(new Date(Number.NaN)), RangeError);
  });
});

describe("assertJsonDepth", () => {
  test("accepts the last allowed level and refuses the next", () => {
    assertJsonDepth(nested(JSON_DEPTH_MAX), JSON_DEPTH_MAX);
    assert.throws(() => assertJsonDepth(nested(JSON_DEPTH_MAX + 1), JSON_DEPTH_MAX), RangeError);
    assert.throws(() => assertJsonDepth({ a: { b: {} } }, 2), RangeError);
  });
});
