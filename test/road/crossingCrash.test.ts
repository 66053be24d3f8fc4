import assert from "node:assert/strict";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import { openFaultyDatabase, type FaultyDatabase } from "../support/faultyDatabase.ts";

// A process that ends before any one statement between a payment and its landing on another chain. The next one goes on
// with what the rows and the chains say.

const AMOUNT_UNITS = 20_000_000n;
const NET_UNITS = 19_897_413n;
/** The process ends before the statements `first`, `first + stride` and so on. The deep tests take all of them. */
const FIRST = Number(process.env["TRIBUTARY_CRASH_FIRST"] ?? 7);
const STRIDE = Number(process.env["TRIBUTARY_CRASH_STRIDE"] ?? 167);

describe("a process that ends on the way across chains", () => {
  let road: BridgedRoad;
  let database: FaultyDatabase;
  before(async () => {
    database = await openFaultyDatabase();
    road = await openBridgedRoad({ chains: 2, db: database.db });
  });
  after(() => road.close());

  test("before any statement: the payment lands once, whole", async () => {
    const [home, away] = road.chains;
    assert.ok(home !== undefined && away !== undefined);
    let crashes = 0;
    for (let statements = FIRST; ; statements += STRIDE) {
      const intent = await road.create(home);
      const { payout: before } = await road.balances(home, intent);
      await road.pay(away, intent, AMOUNT_UNITS);
      database.failAfter(statements, new Error("the process ended"));
      const hasEnded = await road.untilLanded(intent).then(
        () => false,
        () => true,
      );
      database.heal();
      road.restart();
      await road.untilLanded(intent);
      const [settlement, ...others] = await road.settlements(intent);
      const { payout, inbox } = await road.balances(home, intent);
      assert.deepEqual(
        [settlement?.gross_units, settlement?.net_units, others.length, payout - before, inbox],
        [AMOUNT_UNITS, NET_UNITS, 0, NET_UNITS, 0n],
        `after ${statements} statements`,
      );
      assert.equal((await road.balances(away, intent)).inbox, 0n);
      if (!hasEnded) break;
      crashes += 1;
    }
    assert.ok(crashes > 1, `${crashes} crashes`);
  });
});
