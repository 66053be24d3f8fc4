import { deepEqual, ok } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate, pendingMigrations } from "../../src/db/migrate.ts";
import { EmbeddedServer } from "../../src/db/pglite/pglite.ts";
import { createPostgresDatabase, databases, openTestDatabase } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { readCodebase } from "../architecture/codebase.ts";
import { renderSchema } from "../schema/renderSchema.ts";
import { BASELINE_KINDS, BASELINE_SEEDS, readBaselineKinds } from "./baselineKinds.ts";

// Migrates databases that the baseline wrote. Every amount and address must survive.

const APPLIED_AT = new Date("2026-12-24T00:00:00Z");
const ROOT = new URL("../..", import.meta.url).pathname;

const readText = (name: string) => readFile(new URL(name, import.meta.url), "utf8");

for (const kind of databases) {
  describe(`databases of the baseline on ${kind}`, () => {
    const opened = new Map<number, { db: Db; money: unknown; kinds: string[] }>();
    before(async () => {
      for (const seed of BASELINE_SEEDS) {
        const db = await openBaseline(kind, await readText(`rows/seed${seed}.sql`));
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

async function openBaseline(kind: (typeof databases)[number], rows: string): Promise<Db> {
  const text = `${await readText("baseline.sql")}${rows}`;
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

/** Every amount and owner, in a stable order. Later columns are not compared. */
async function readMoney(db: Db): Promise<unknown> {
  const queries = [
    sql`select id, status, received_units, counted_units, settled_units, fee_units, net_units, inbox_address from intent order by id`,
    sql`select namespace, reference, address, intent_id, kind, token from inbox order by 1, 2, 3, 6`,
    sql`select id, intent_id, status, amount_units, counted_units, settlement_id from deposit order by id`,
    sql`select intent_id, chain, token, waiting_units, dust_units, dust_held_units, rest_units, suspense_units, unswept_units
      from holding order by 1, 2, 3`,
    sql`select id, intent_id, status, gross_units, fee_units, route_cost_units, net_units, chain_tx from settlement order by id`,
    sql`select id, intent_id, inbox, direction, amount_units, identity, place, chain_tx, orphaned_at from movement order by id`,
    sql`select movement_id, status, units, message, mint from crossing order by 1`,
    sql`select holder, asset, account, balance_units from ledger_balance order by 1, 2, 3`,
    sql`select account, asset, sum(amount_units) as units, count(*) as entries from ledger_entry group by 1, 2 order by 1, 2`,
    sql`select id, chain, sender, nonce, status, mined_chain_tx from outgoing_transaction order by id`,
    sql`select outgoing_id, attempt, chain_tx, raw from outgoing_attempt order by 1, 2`,
    sql`select id, account_number, sequence, type, content from event order by position`,
  ];
  const answers = [];
  for (const query of queries) answers.push((await query.execute(db.root)).rows);
  return answers;
}
