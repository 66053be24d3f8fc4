import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openTestDatabase, thoroughDatabases } from "../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { observeSettlements } from "./observe/observeSettlements.ts";
import { planSettlements } from "./planSettlements.ts";
import { countMoney } from "../../test/support/countMoney.ts";

const [PAID_TX, SWEEP_TX] = ["01", "02"].map((byte) => `0x${byte.repeat(32)}`);
const UNITS = 25_000_000n;

let txCount = 0;
const newChainTx = () => `0xaa${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`minimums of settlements on ${kind}`, () => {
    const TERMS = { price_units: 100n, price_token_units: 100n, minimum_units: 50n };
    let db: Db;
    let world: StationWorld;
    before(async () => {
      db = await openTestDatabase(kind);
      world = stationWorld(db);
      await setHead(db, TEST_CHAIN, { number: 270n });
    });
    after(() => db.close());

    let block = 200n;
    async function pay(intent: IntentRow, amountUnits: bigint): Promise<void> {
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits, block: (block += 1n) }]);
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
      await planSettlements(world, TEST_CHAIN);
    }
    async function sweep(intent: IntentRow, amountUnits: bigint): Promise<void> {
      const leg = { chainTx: newChainTx(), block: (block += 1n), direction: "out", position: 10 } as const;
      await recordMovements(db, intent, [{ ...leg, amountUnits, counterparty: intent.payout_wallet }]);
      await observeSettlements(world, TEST_CHAIN);
      await planSettlements(world, TEST_CHAIN);
    }
    async function statusesOf({ id }: IntentRow): Promise<string[]> {
      const rows = await db.root
        .selectFrom("settlement")
        .select("status")
        .where("intent_id", "=", id)
        .orderBy("seq")
        .execute();
      return rows.map(({ status }) => status);
    }

    for (const one_time of [true, false]) {
      test(`dust for a paid ${one_time ? "one-time" : "repeatable"} intent waits in its inbox`, async () => {
        const intent = await insertIntent(db, { ...TERMS, one_time });
        await pay(intent, 100n);
        await sweep(intent, 100n);
        await pay(intent, 1n);
        assert.deepEqual(await statusesOf(intent), ["landed"]);
        await pay(intent, 49n);
        assert.deepEqual(await statusesOf(intent), ["landed", "planned"]);
      });
    }

    test("D57 a price below the minimum is settled at once, and what follows waits for the minimum", async () => {
      const intent = await insertIntent(db, { ...TERMS, price_token_units: 1n, one_time: true });
      await pay(intent, 1n);
      assert.deepEqual(await statusesOf(intent), ["planned"]);
      await sweep(intent, 1n);
      await pay(intent, 1n);
      assert.deepEqual(await statusesOf(intent), ["landed"]);
      await pay(intent, 49n);
      assert.deepEqual(await statusesOf(intent), ["landed", "planned"]);
    });

    test("D5 an amount below the minimum that completes the price is settled at once", async () => {
      const intent = await insertIntent(db, { ...TERMS, underpay_tolerance_bps: 100 });
      await pay(intent, 60n);
      await sweep(intent, 60n);
      await pay(intent, 39n);
      assert.deepEqual(await statusesOf(intent), ["landed", "planned"]);
    });
  });

  test(`an inbox that another process settled meanwhile is not planned again, on ${kind}`, async (context) => {
    const db = await openTestDatabase(kind);
    context.after(() => db.close());
    const world = stationWorld(db);
    await setHead(db, TEST_CHAIN, { number: 200n });
    const intent = await insertIntent(db);
    await recordMovements(db, intent, [{ chainTx: PAID_TX ?? "", amountUnits: UNITS, block: 190n }]);
    await processMovements(world, TEST_CHAIN);
    await countMoney(world, TEST_CHAIN);
    const settle = async () => {
      await planSettlements(world, TEST_CHAIN);
      const leg = { direction: "out", position: 10, counterparty: intent.payout_wallet } as const;
      await recordMovements(db, intent, [{ ...leg, chainTx: SWEEP_TX ?? "", amountUnits: UNITS, block: 195n }]);
      await observeSettlements(world, TEST_CHAIN);
    };
    // It has listed the unsettled inboxes, and pauses before it plans.
    const standing: Db = {
      ...db,
      transaction: async (run) => {
        await settle();
        return await db.transaction(run);
      },
    };
    await planSettlements({ ...world, db: standing }, TEST_CHAIN);
    const settlements = await db.root.selectFrom("settlement").select(["intent_id", "status"]).execute();
    assert.deepEqual(settlements, [{ intent_id: intent.id, status: "landed" }]);
  });
}
