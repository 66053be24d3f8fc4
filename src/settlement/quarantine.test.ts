import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import { countMoney } from "../../test/support/countMoney.ts";
import { openTestDatabase, thoroughDatabases } from "../../test/support/database.ts";
import { openFaultyDatabase } from "../../test/support/faultyDatabase.ts";
import { insertIntent, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { addMs, systemClock } from "../kernel/clock.ts";
import { observeSettlements } from "./observe/observeSettlements.ts";

const START = new Date("2026-11-01T13:00:00Z");

let txCount = 0;
const newChainTx = () => `0xbb${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`quarantine of the settlement station on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    let now = START;
    const alarms: Record<string, unknown>[] = [];
    before(async () => {
      db = await openTestDatabase(kind);
      const stream = {
        write: (line: string) => {
          const entry = JSON.parse(line) as Record<string, unknown>;
          if (entry["alarm"] !== undefined) alarms.push(entry);
        },
      };
      world = { ...stationWorld(db), clock: { ...systemClock, now: () => now }, log: pino({ level: "error" }, stream) };
      await setHead(db, TEST_CHAIN, { number: 300n });
    });
    after(() => db.close());

    /** Records a deposit and the sweep that took it. */
    async function payAndSweep(intent: IntentRow, block: bigint): Promise<void> {
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 7n, block }]);
      const leg = { chainTx: newChainTx(), block: block + 1n, direction: "out", position: 3 } as const;
      await recordMovements(db, intent, [{ ...leg, amountUnits: 7n, counterparty: intent.payout_wallet }]);
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
    }
    /** Makes the database refuse settlements of the intent with this error; of every intent without one. */
    async function poison(intent: IntentRow | undefined, state: string): Promise<void> {
      const condition = intent === undefined ? "true" : `new.intent_id = '${intent.id}'`;
      const statements = [
        `create or replace function refuse_poison() returns trigger language plpgsql as $body$ begin
           if ${condition} then raise exception 'poison' using errcode = '${state}'; end if;
           return new; end $body$`,
        `create or replace trigger poison before insert on settlement for each row execute function refuse_poison()`,
      ];
      for (const statement of statements) await sql.raw(statement).execute(db.root);
    }
    const heal = () => sql.raw("drop trigger poison on settlement").execute(db.root);
    const statusesOf = async ({ id }: IntentRow) =>
      (await db.root.selectFrom("settlement").select("status").where("intent_id", "=", id).execute()).map(
        (row) => row.status,
      );
    const quarantined = () => db.root.selectFrom("quarantine").selectAll().execute();

    for (const [state, meaning] of [
      ["23514", "violates a constraint"],
      ["57014", "exceeds the statement's time limit"],
    ] as const) {
      test(`an intent whose settlement ${meaning} is quarantined, and settles once it can`, async () => {
        now = START;
        alarms.length = 0;
        const intents = [await insertIntent(db), await insertIntent(db), await insertIntent(db)];
        const [first, poisoned, third] = intents;
        assert.ok(first && poisoned && third);
        await poison(poisoned, state);
        for (const intent of intents) await payAndSweep(intent, 200n);
        assert.deepEqual(await observeSettlements(world, TEST_CHAIN), { isDone: true, hasPassed: true });
        assert.deepEqual(
          [await statusesOf(first), await statusesOf(poisoned), await statusesOf(third)],
          [["landed"], [], ["landed"]],
        );
        const [row, ...others] = await quarantined();
        assert.deepEqual(
          [row?.station, row?.intent_id, row?.reason, row?.attempts],
          ["settlement", poisoned.id, "poison", 1],
        );
        assert.deepEqual(others, []);
        assert.deepEqual(
          alarms.map(({ alarm, intent }) => [alarm, intent]),
          [["intent_quarantined", poisoned.id]],
        );

        // The others go on, and the later movements of the quarantined intent wait behind its first ones.
        await payAndSweep(first, 210n);
        await payAndSweep(poisoned, 210n);
        await observeSettlements(world, TEST_CHAIN);
        assert.deepEqual([await statusesOf(first), await statusesOf(poisoned)], [["landed", "landed"], []]);

        // Each failed retry waits longer.
        now = addMs(now, 6_000);
        await observeSettlements(world, TEST_CHAIN);
        const [retried] = await quarantined();
        assert.deepEqual([retried?.attempts, retried?.retry_at], [2, addMs(now, 20_000)]);
        await heal();
        await observeSettlements(world, TEST_CHAIN);
        assert.deepEqual(await statusesOf(poisoned), []);
        now = addMs(now, 20_000);
        await observeSettlements(world, TEST_CHAIN);
        assert.deepEqual(await statusesOf(poisoned), ["landed", "landed"]);
        assert.deepEqual(await quarantined(), []);
        const { settled_units } = await db.root
          .selectFrom("intent")
          .select("settled_units")
          .where("id", "=", poisoned.id)
          .executeTakeFirstOrThrow();
        assert.equal(settled_units, 14n);
      });
    }

    test("a clock that was set back does not keep an intent in quarantine", async () => {
      now = START;
      const intent = await insertIntent(db);
      await poison(intent, "23514");
      await payAndSweep(intent, 220n);
      await observeSettlements(world, TEST_CHAIN);
      await heal();
      now = addMs(START, -2 * 3_600_000);
      await observeSettlements(world, TEST_CHAIN);
      assert.deepEqual([await statusesOf(intent), await quarantined()], [["landed"], []]);
    });

    test("when every intent exceeds the time limit, the server is overloaded and none is quarantined", async () => {
      now = START;
      await poison(undefined, "57014");
      for (const intent of [await insertIntent(db), await insertIntent(db)]) await payAndSweep(intent, 230n);
      await assert.rejects(observeSettlements(world, TEST_CHAIN), /poison/);
      await heal();
      assert.deepEqual(await quarantined(), []);
      assert.deepEqual(await observeSettlements(world, TEST_CHAIN), { isDone: true, hasPassed: true });
    });
  });
}

test("a lost connection to the database quarantines no intent", async (context) => {
  const faulty = await openFaultyDatabase();
  const { db } = faulty;
  context.after(() => db.close());
  const world = stationWorld(db);
  await setHead(db, TEST_CHAIN, { number: 300n });
  const intent = await insertIntent(db);
  const leg = { chainTx: newChainTx(), block: 200n, direction: "out", counterparty: intent.payout_wallet } as const;
  await recordMovements(db, intent, [{ ...leg, amountUnits: 7n }]);
  for (let statements = 0; statements < 30; statements += 1) {
    faulty.failAfter(statements, Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
    const outcome = await observeSettlements(world, TEST_CHAIN).then(
      () => "done",
      () => "failed",
    );
    faulty.heal();
    assert.deepEqual(await db.root.selectFrom("quarantine").selectAll().execute(), []);
    if (outcome === "done") break;
  }
  assert.equal((await db.root.selectFrom("settlement").select("status").executeTakeFirst())?.status, "landed");
});
