import assert from "node:assert/strict";
import { test } from "node:test";
import { databases, openTestDatabase } from "../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { countDeposits } from "../deposit/countDeposits.ts";
import { takeMovements } from "../deposit/takeMovements.ts";
import { observeSettlements } from "./observeSettlements.ts";
import { planSettlements } from "./planSettlements.ts";

const [PAID_TX, SWEEP_TX] = ["01", "02"].map((byte) => `0x${byte.repeat(32)}`);
const UNITS = 25_000_000n;

for (const kind of databases) {
  test(`what another process has settled since it was looked for is not planned again, on ${kind}`, async (context) => {
    const db = await openTestDatabase(kind);
    context.after(() => db.close());
    const world = stationWorld(db);
    await setHead(db, TEST_CHAIN, { number: 200n });
    const intent = await insertIntent(db);
    await recordMovements(db, intent, [{ chainTx: PAID_TX ?? "", amountUnits: UNITS, block: 190n }]);
    await takeMovements(world, TEST_CHAIN);
    await countDeposits(world, TEST_CHAIN);
    const settle = async () => {
      await planSettlements(world, TEST_CHAIN);
      const leg = { direction: "out", position: 10, counterparty: intent.payout_wallet } as const;
      await recordMovements(db, intent, [{ ...leg, chainTx: SWEEP_TX ?? "", amountUnits: UNITS, block: 195n }]);
      await observeSettlements(world, TEST_CHAIN);
    };
    // It has looked for what waits, and stands still before it does anything about it.
    const standing: Db = {
      ...db,
      transaction: async (run) => {
        await settle();
        return await db.transaction(run);
      },
    };
    await planSettlements({ ...world, db: standing }, TEST_CHAIN);
    const settlements = await db.read.selectFrom("settlement").select(["intent_id", "status"]).execute();
    assert.deepEqual(settlements, [{ intent_id: intent.id, status: "landed" }]);
  });
}
