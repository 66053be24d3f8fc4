import assert from "node:assert/strict";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import type { IntentRow } from "../../src/intent/store.ts";
import { openFaultyDatabase, type FaultyDatabase } from "../support/faultyDatabase.ts";
import { openSolanaCrossing, type SolanaCrossingRoad } from "../support/solanaCrossing.ts";

// A process that ends before any one statement between a payment and its landing on the other kind of chain. The next
// one goes on with what the rows and the chains say.

const AMOUNT_UNITS = 20_000_000n;
const NET_UNITS = 19_897_413n;
/** The process ends before the statements `first`, `first + stride` and so on. */
const FIRST = Number(process.env["TRIBUTARY_CRASH_FIRST"] ?? 40);
const STRIDE = Number(process.env["TRIBUTARY_CRASH_STRIDE"] ?? 400);

describe("a process that ends on the way between Solana and an EVM chain", () => {
  let road: SolanaCrossingRoad;
  let database: FaultyDatabase;
  before(async () => {
    database = await openFaultyDatabase();
    road = await openSolanaCrossing({ db: database.db });
  });
  after(() => road.close());

  /** Ends a process before each chosen statement of a payment's way, and compares what arrived. */
  async function endBeforeStatements(pay: () => Promise<IntentRow>, payoutOf: (intent: IntentRow) => Promise<bigint>) {
    let crashes = 0;
    for (let statements = FIRST; ; statements += STRIDE) {
      const intent = await pay();
      const before = await payoutOf(intent);
      database.failAfter(statements, new Error("the process ended"));
      const hasEnded = await road.untilLanded(intent).then(
        () => false,
        () => true,
      );
      database.heal();
      road.restart();
      await road.untilLanded(intent);
      const [settlement, ...others] = await road.settlements(intent);
      const { counted_units: counted } = await road.intent(intent);
      assert.deepEqual(
        [settlement?.gross_units, settlement?.net_units, others.length, (await payoutOf(intent)) - before, counted],
        [AMOUNT_UNITS, NET_UNITS, 0, NET_UNITS, AMOUNT_UNITS],
        `after ${statements} statements`,
      );
      if (!hasEnded) break;
      crashes += 1;
    }
    assert.ok(crashes > 1, `${crashes} crashes`);
  }

  test("from Solana, before any statement: the payment lands once, whole", async () => {
    await endBeforeStatements(
      async () => {
        const intent = await road.create();
        road.pay(await road.issue(intent), AMOUNT_UNITS);
        return intent;
      },
      async (intent) => (await road.balances(intent)).payout,
    );
  });

  test("to Solana, before any statement: the payment lands once, whole", async () => {
    await endBeforeStatements(
      async () => {
        const intent = await road.createOnSolana();
        await road.payOnEvm(await road.issueOnEvm(intent), AMOUNT_UNITS);
        return intent;
      },
      async () => road.unitsOf(road.payoutOnSolana),
    );
  });
});
