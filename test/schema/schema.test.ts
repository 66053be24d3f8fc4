import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Db } from "../../src/db/database.ts";
import { migrations } from "../../src/db/migrations/list.ts";
import { readCodebase } from "../architecture/codebase.ts";
import { STATION_ORDER } from "../architecture/stationOrder.ts";
import { openTestDatabase, thoroughDatabase } from "../support/database.ts";
import { readSchema } from "./readSchema.ts";
import { renderSchema } from "./renderSchema.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LAST_BASELINE = 199;

describe("the schema", () => {
  let db: Db;
  before(async () => {
    db = await openTestDatabase(thoroughDatabase);
  });
  after(() => db.close());

  test("src/db/schema.sql shows the schema after all migrations", async () => {
    const stored = await readFile(`${ROOT}/src/db/schema.sql`, "utf8");
    assert.equal(stored, await renderSchema(db, readCodebase(ROOT)), "run `npm run schema`");
  });

  test("a station's baseline comes in station order, and names tables of earlier stations only", async () => {
    const baselines = migrations.filter(({ name }) => Number(name.slice(0, 4)) <= LAST_BASELINE);
    const ranks = baselines.map(({ name }) => STATION_ORDER.indexOf(name.slice(5)));
    assert.ok(!ranks.includes(-1));
    assert.deepEqual(
      ranks,
      ranks.toSorted((one, other) => one - other),
    );
    const tables = (await readSchema(db)).filter(({ kind }) => kind === "table" || kind === "view");
    const texts = await Promise.all(
      baselines.map(({ name }) => readFile(`${ROOT}/src/db/migrations/${name}.ts`, "utf8")),
    );
    const createdIn = (table: string) =>
      texts.findIndex((text) => new RegExp(`create (?:unlogged )?(?:table|view) ${table}\\b`).test(text));
    for (const [index, text] of texts.entries())
      for (const { name } of tables)
        if (new RegExp(`\\b(?:from|join|into|update|references|on)\\s+${name}\\b`).test(text))
          assert.ok(createdIn(name) <= index, `${baselines[index]?.name} names ${name} of a later station`);
  });
});
