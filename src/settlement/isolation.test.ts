import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import { countMoney } from "../../test/support/countMoney.ts";
import { openTestDatabase, thoroughDatabases } from "../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { planSettlements } from "./planSettlements.ts";

let txCount = 0;
const newChainTx = () => `0xcc${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`an intent whose rows fail, on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    const alarms: Record<string, unknown>[] = [];
    before(async () => {
      db = await openTestDatabase(kind);
      const stream = { write: (line: string) => void alarms.push(JSON.parse(line) as Record<string, unknown>) };
      world = { ...stationWorld(db), log: pino({ level: "error" }, stream) };
    });
    after(() => db.close());

    /** Makes the database refuse this write with this error: for one intent, or for every one without it. */
    async function poison(write: string, intent: IntentRow | undefined, state = "23514"): Promise<void> {
      const condition = intent === undefined ? "true" : `new.intent_id = '${intent.id}'`;
      const statements = [
        `create or replace function refuse_poison() returns trigger language plpgsql as $body$ begin
           if ${condition} then raise exception 'poison' using errcode = '${state}'; end if;
           return new; end $body$`,
        `create or replace trigger poison before ${write} for each row execute function refuse_poison()`,
      ];
      for (const statement of statements) await sql.raw(statement).execute(db.root);
    }
    const heal = (table: string) => sql.raw(`drop trigger poison on ${table}`).execute(db.root);
    /** Three intents that received the same transfers; the second one is to fail. */
    async function pay(block: bigint, amounts: readonly bigint[], terms: object = {}): Promise<IntentRow[]> {
      await setHead(db, TEST_CHAIN, { number: block });
      const intents = [await insertIntent(db, terms), await insertIntent(db, terms), await insertIntent(db, terms)];
      for (const intent of intents)
        await recordMovements(
          db,
          intent,
          amounts.map((amountUnits) => ({ chainTx: newChainTx(), amountUnits, block })),
        );
      await processMovements(world, TEST_CHAIN);
      alarms.length = 0;
      return intents;
    }
    const countedOf = (intents: readonly IntentRow[]) =>
      Promise.all(
        intents.map(async ({ id }) => {
          const row = await db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
          return row.counted_units;
        }),
      );
    const settlementsOf = (intents: readonly IntentRow[]) =>
      Promise.all(
        intents.map(async ({ id }) => {
          const rows = await db.root.selectFrom("settlement").select("id").where("intent_id", "=", id).execute();
          return rows.length;
        }),
      );
    const assertAlarm = (intent: IntentRow | undefined, work: string) =>
      assert.deepEqual(
        alarms.map(({ alarm, intent: named, work: of }) => [alarm, named, of]),
        [["intent_failed", intent?.id, work]],
      );

    for (const state of ["23514", "57014"]) {
      test(`its deposits are left out with an alarm, the others count, and it counts once it can (${state})`, async () => {
        const intents = await pay(100n, [500n]);
        await poison("update on deposit", intents[1], state);
        await setHead(db, TEST_CHAIN, { number: 101n });
        await countMoney(world, TEST_CHAIN);
        assert.deepEqual(await countedOf(intents), [500n, 0n, 500n]);
        assertAlarm(intents[1], "count deposits");
        await heal("deposit");
        await countMoney(world, TEST_CHAIN);
        assert.deepEqual(await countedOf(intents), [500n, 500n, 500n]);
      });
    }

    test("its dust is left out, and the dust of the others counts", async () => {
      const intents = await pay(110n, [60n, 60n], { minimum_units: 100n });
      await poison("update on holding", intents[1]);
      await setHead(db, TEST_CHAIN, { number: 111n });
      await countMoney(world, TEST_CHAIN);
      assert.deepEqual(await countedOf(intents), [120n, 0n, 120n]);
      assertAlarm(intents[1], "sum dust");
      await heal("holding");
      await countMoney(world, TEST_CHAIN);
      assert.deepEqual(await countedOf(intents), [120n, 120n, 120n]);
    });

    test("its settlement is left out, and the others are planned", async () => {
      const intents = await pay(120n, [700n]);
      await setHead(db, TEST_CHAIN, { number: 121n });
      await countMoney(world, TEST_CHAIN);
      await poison("insert on settlement", intents[1]);
      await planSettlements(world, TEST_CHAIN);
      assert.deepEqual(await settlementsOf(intents), [1, 0, 1]);
      assertAlarm(intents[1], "plan settlements");
      await heal("settlement");
      await planSettlements(world, TEST_CHAIN);
      assert.deepEqual(await settlementsOf(intents), [1, 1, 1]);
    });

    test("when several intents take too long alone, the database is overloaded, and the loop waits", async () => {
      const intents = await pay(130n, [900n]);
      await poison("update on deposit", undefined, "57014");
      await setHead(db, TEST_CHAIN, { number: 131n });
      await assert.rejects(countMoney(world, TEST_CHAIN), /poison/);
      await heal("deposit");
      await countMoney(world, TEST_CHAIN);
      assert.deepEqual(await countedOf(intents), [900n, 900n, 900n]);
    });
  });
}
