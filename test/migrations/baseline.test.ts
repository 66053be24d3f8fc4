import { deepEqual, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate, pendingMigrations } from "../../src/db/migrate.ts";
import { EmbeddedServer } from "../../src/db/pglite/pglite.ts";
import { createPostgresDatabase, thoroughDatabases, openTestDatabase } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { readCodebase } from "../architecture/codebase.ts";
import { renderSchema } from "../schema/renderSchema.ts";
import { readBaseline, readMoney } from "./readBaseline.ts";
import { BASELINE_KINDS, BASELINE_SEEDS, readBaselineKinds } from "./baselineKinds.ts";

// Migrates databases that the baseline wrote. Every amount and address must survive.

const APPLIED_AT = new Date("2026-12-24T00:00:00Z");
const ROOT = new URL("../..", import.meta.url).pathname;

for (const kind of thoroughDatabases) {
  describe(`databases of the baseline on ${kind}`, () => {
    const opened = new Map<number, { db: Db; money: unknown; kinds: string[] }>();
    before(async () => {
      for (const seed of BASELINE_SEEDS) {
        const db = await openBaseline(kind, await readBaseline(seed));
        opened.set(seed, { db, money: await readMoney(db), kinds: await readBaselineKinds(db) });
        await migrate(db, { appliedAt: APPLIED_AT });
      }
    });
    after(async () => {
      for (const { db } of opened.values()) await db.close();
    });

    test("they have money of every kind", () => {
      const kinds = new Set([...opened.values()].flatMap((each) => each.kinds));
      deepEqual([...kinds].toSorted(), BASELINE_KINDS);
    });

    test("every amount and address is unchanged, and all checks pass", async () => {
      for (const { db, money } of opened.values()) {
        deepEqual(await readMoney(db), money);
        await assertAllChecks(db);
      }
    });

    test("their schema is that of a new database", async () => {
      const [{ db } = { db: undefined }] = opened.values();
      ok(db);
      deepEqual(await pendingMigrations(db), []);
      const fresh = await openTestDatabase(kind);
      after(() => fresh.close());
      const house = readCodebase(ROOT);
      // A dump creates its tables in another order.
      const linesOf = async (each: Db) => (await renderSchema(each, house)).split("\n").toSorted();
      deepEqual(await linesOf(db), await linesOf(fresh));
    });
  });
}

async function openBaseline(kind: (typeof thoroughDatabases)[number], text: string): Promise<Db> {
  if (kind === "pglite") {
    const server = await EmbeddedServer.start({ directory: "memory" });
    await server.pglite.exec(text);
    const snapshot = new Blob([await (await server.pglite.dumpDataDir("none")).bytes()]);
    await server.pglite.close();
    return openDatabase({ directory: "memory", snapshot });
  }
  const { url, drop } = await createPostgresDatabase("empty");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  return {
    ...db,
    async close() {
      await db.close();
      await drop();
    },
  };
}
