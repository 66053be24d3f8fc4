import assert from "node:assert/strict";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { createWallet } from "../support/solana.ts";
import { openFaultyDatabase, type FaultyDatabase } from "../support/faultyDatabase.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";

// A process that ends before any one statement between a payment on Solana and its final settlement. The next one goes
// on with what the rows and the chain say. What it signed may land before or after it ended, or be lost.

const AMOUNT_UNITS = 20_000_000n;
const NET_UNITS = 19_900_000n;
/** The process ends before the statements `first`, `first + stride` and so on. The deep tests take all of them. */
const FIRST = Number(process.env["TRIBUTARY_CRASH_FIRST"] ?? 11);
const STRIDE = Number(process.env["TRIBUTARY_CRASH_STRIDE"] ?? 223);
/** What becomes of the transactions of the process that ends. */
const LANDINGS = ["now", "hold", "drop"] as const;
/** More rounds than a payment takes from its transaction to its landing. */
const ROUNDS = 16;
/** More than the blocks in which a signed transaction can land. */
const EXPIRED_SLOTS = 170;

describe("a process that ends while a payment on Solana settles", () => {
  let road: SolanaRoad;
  let database: FaultyDatabase;
  before(async () => {
    database = await openFaultyDatabase();
    road = await openSolanaRoad({ db: database.db });
  });
  after(() => road.close());

  const run = async (rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      await road.tick();
      road.solana.control.nextSlot();
      road.advance(2_000);
    }
  };
  /** Runs until the process ends. Returns whether it did. */
  const runAndEnd = async (statements: number): Promise<boolean> => {
    database.failAfter(statements, new Error("the process ended"));
    const hasEnded = await run(ROUNDS).then(
      () => false,
      () => true,
    );
    database.heal();
    road.restart();
    return hasEnded;
  };

  test("before any statement, and its transaction lands, lands late or is lost: the payment is settled once", async () => {
    const { control } = road.solana;
    let crashes = 0;
    for (let statements = FIRST; ; statements += STRIDE) {
      const landing = LANDINGS[crashes % LANDINGS.length] ?? "now";
      const wallet = createWallet(road.solana, 0n).address;
      const intent = await road.create({ payoutWallet: wallet });
      road.pay(intent, AMOUNT_UNITS);
      control.setLanding(landing);
      const hasEnded = await runAndEnd(statements);
      // The next process has begun its own work when the late transaction lands.
      await run(3);
      control.release();
      control.setLanding("now");
      if (landing === "drop") control.nextSlot(EXPIRED_SLOTS);
      await road.untilLanded(intent);
      await run(2);
      const [settlement, ...others] = await road.settlements(intent);
      assert.deepEqual(
        [settlement?.gross_units, settlement?.net_units, others.length, road.unitsOf(wallet)],
        [AMOUNT_UNITS, NET_UNITS, 0, NET_UNITS],
        `after ${statements} statements, ${landing}`,
      );
      assert.equal(road.unitsOf(intent.inbox_address), 0n);
      if (!hasEnded) break;
      crashes += 1;
    }
    assert.ok(crashes > LANDINGS.length, `${crashes} crashes`);
  });
});
