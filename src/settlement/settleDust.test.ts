import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { countMoney } from "../../test/support/countMoney.ts";
import { openTestDatabase, thoroughDatabases } from "../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { depositChecks } from "../deposit/checks.ts";
import { listDeposits } from "../deposit/listDeposits.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { runChecks } from "../ledger/check.ts";
import { observeSettlements } from "./observe/observeSettlements.ts";
import { planSettlements } from "./planSettlements.ts";

let txCount = 0;
const newChainTx = () => `0xd5${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`settlements of dust on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    before(async () => {
      db = await openTestDatabase(kind);
      world = stationWorld(db);
      await setHead(db, TEST_CHAIN, { number: 1n });
    });
    after(() => db.close());

    async function headAt(number: bigint): Promise<void> {
      await setHead(db, TEST_CHAIN, { number });
      while (!(await processMovements(world, TEST_CHAIN)).isDone);
      await countMoney(world, TEST_CHAIN);
      await observeSettlements(world, TEST_CHAIN);
      await planSettlements(world, TEST_CHAIN);
      assert.deepEqual(await runChecks(db, depositChecks), []);
    }
    const receive = (intent: IntentRow, count: number, block: bigint) => {
      const chainTx = newChainTx();
      const moved = Array.from({ length: count }, (_, position) => ({ chainTx, position, amountUnits: 10n, block }));
      return recordMovements(db, intent, moved);
    };
    const sweepOf = (intent: IntentRow, amountUnits: bigint, block: bigint): MovementInput => ({
      chainTx: newChainTx(),
      position: 90,
      place: 90,
      direction: "out",
      block,
      amountUnits,
      counterparty: intent.payout_wallet,
    });
    const statusesOf = async ({ id }: IntentRow) => {
      const rows = await db.root
        .selectFrom("settlement")
        .selectAll()
        .where("intent_id", "=", id)
        .orderBy("seq")
        .execute();
      return rows.map(({ status, gross_units }) => `${status} ${gross_units ?? ""}`.trim());
    };
    const heldBy = async ({ id }: IntentRow) => {
      const query = db.root.selectFrom("holding").selectAll().where("intent_id", "=", id);
      const { unswept_units, dust_held_units, waiting_held_units } = await query.executeTakeFirstOrThrow();
      return [unswept_units, dust_held_units, waiting_held_units];
    };

    test("dust that reached the minimum is planned, and belongs to the sweep that took it", async () => {
      const intent = await insertIntent(db, { minimum_units: 50n });
      await receive(intent, 4, 10n);
      await headAt(15n);
      assert.deepEqual(await statusesOf(intent), []);
      await receive(intent, 2, 16n);
      await headAt(20n);
      assert.deepEqual([await statusesOf(intent), await heldBy(intent)], [["planned"], [60n, 60n, 0n]]);
      await recordMovements(db, intent, [sweepOf(intent, 60n, 21n)]);
      await headAt(22n);
      assert.deepEqual([await statusesOf(intent), await heldBy(intent)], [["landed 60"], [0n, 0n, 0n]]);
      const [settlement] = await db.root
        .selectFrom("settlement")
        .select("id")
        .where("intent_id", "=", intent.id)
        .execute();
      const deposits = await listDeposits(world, { intent, limit: 10 });
      assert.deepEqual(new Set(deposits.map(({ settlement_id }) => settlement_id)), new Set([settlement?.id]));
    });

    test("a stranger's sweep takes dust before it counts, and no empty sweep is planned for it later", async () => {
      const intent = await insertIntent(db, { minimum_units: 50n });
      await receive(intent, 3, 30n);
      await recordMovements(db, intent, [sweepOf(intent, 30n, 31n)]);
      await headAt(35n);
      assert.deepEqual([await statusesOf(intent), await heldBy(intent)], [["landed 30"], [0n, 0n, 0n]]);
      await receive(intent, 3, 36n);
      await headAt(40n);
      assert.deepEqual([await statusesOf(intent), await heldBy(intent)], [["landed 30"], [30n, 30n, 0n]]);
      await receive(intent, 2, 41n);
      await headAt(45n);
      assert.deepEqual(await heldBy(intent), [30n, 30n, 20n]);
    });

    test("a reorganised sweep leaves its dust in the inbox again", async () => {
      const intent = await insertIntent(db, { minimum_units: 50n });
      await receive(intent, 6, 50n);
      await headAt(55n);
      const sweep = sweepOf(intent, 60n, 56n);
      await recordMovements(db, intent, [sweep]);
      await headAt(57n);
      assert.deepEqual(await heldBy(intent), [0n, 0n, 0n]);
      await recordMovements(db, intent, [{ ...sweep, orphaned: true }]);
      await headAt(57n);
      assert.deepEqual(await heldBy(intent), [60n, 60n, 0n]);
      assert.ok((await statusesOf(intent)).includes("planned"));
    });

    test("money that was counted by a clock an hour ahead is planned at once", async () => {
      const intent = await insertIntent(db);
      const ahead = { ...world.clock, now: () => new Date(Date.now() + 3_600_000) };
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 500n, block: 60n }]);
      await setHead(db, TEST_CHAIN, { number: 65n });
      await processMovements({ ...world, clock: ahead }, TEST_CHAIN);
      await countMoney({ ...world, clock: ahead }, TEST_CHAIN);
      await planSettlements(world, TEST_CHAIN);
      assert.deepEqual(await statusesOf(intent), ["planned"]);
    });
  });
}
