import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { runLedgerChecks } from "../audit/runLedgerChecks.ts";
import { assertAllChecks } from "../../test/support/ledgerAssertions.ts";
import { openScriptedRoads, type RoadChain, type ScriptedRoads } from "../../test/support/scriptedRoads.ts";
import { tokenCalls } from "../../test/sim/chain/token.ts";
import type { Db } from "../db/database.ts";
import type { IntentRow } from "../intent/store.ts";

const USDC = 1_000_000n;

describe("D48 a sweep that leaves money in its inbox", () => {
  let db: Db;
  let roads: ScriptedRoads;
  let chain: RoadChain;
  before(async () => {
    db = await openTestDatabase("postgres");
    roads = await openScriptedRoads(db, { chains: [{ minimumUnits: USDC }] });
    const [only] = roads.chains;
    assert(only);
    chain = only;
  });
  after(() => db.close());

  const settlementsOf = async ({ id }: IntentRow) =>
    (await db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute()).map(
      ({ status, gross_units: gross }) => [status, gross],
    );
  /** Moves a part of the balance to the payout, as only a token or a contract with a fault can. */
  const takePart = (intent: IntentRow, units: bigint) =>
    chain.send({
      from: intent.inbox_address,
      calls: [{ to: chain.usdc, data: tokenCalls.transfer(intent.payout_wallet, units) }],
    });
  const leftMoney = () => roads.alarms.filter(({ alarm }) => alarm === "sweep_left_money");

  test("raises an alarm, and the rest is planned again at once", async () => {
    const intent = await roads.create({ merchantReference: "left" });
    chain.pay(intent, 100n * USDC);
    chain.mine();
    takePart(intent, 40n * USDC);
    await chain.advance(8);
    assert.equal(chain.scripted.unitsOf(chain.usdc, intent.inbox_address), 0n);
    assert.deepEqual(await settlementsOf(intent), [
      ["landed", 40n * USDC],
      ["landed", 60n * USDC],
    ]);
    assert.deepEqual(
      leftMoney().map(({ leftUnits, intent: of }) => [leftUnits, of]),
      [[String(60n * USDC), intent.id]],
    );
    await assertAllChecks(db);
  });

  test("a rest that is not counted yet waits until it counts", async () => {
    const intent = await roads.create();
    chain.pay(intent, 10n * USDC);
    takePart(intent, 4n * USDC);
    chain.mine();
    await chain.watch();
    await chain.decide();
    await chain.settle();
    await chain.advance(8);
    assert.equal(chain.scripted.unitsOf(chain.usdc, intent.inbox_address), 0n);
    assert.deepEqual(await settlementsOf(intent), [
      ["landed", 4n * USDC],
      ["landed", 6n * USDC],
    ]);
    assert.deepEqual(
      (await runLedgerChecks(db)).filter(({ check }) => check !== "sweep-empties-inbox"),
      [],
    );
  });

  test("many small transfers before the sweep do not make an older one count", async () => {
    const intent = await roads.create();
    chain.pay(intent, 10n * USDC);
    for (let transfers = 0; transfers < 20; transfers += 1) chain.pay(intent, 1n);
    takePart(intent, 4n * USDC);
    chain.mine();
    await chain.watch();
    await chain.decide();
    await chain.settle();
    const { rest_units, rest_counted_units, unswept_units } = await db.root
      .selectFrom("holding")
      .selectAll()
      .where("intent_id", "=", intent.id)
      .executeTakeFirstOrThrow();
    assert.deepEqual([rest_units, rest_counted_units, unswept_units], [6n * USDC + 20n, 0n, 0n]);
    await chain.advance(70);
    assert.equal(chain.scripted.unitsOf(chain.usdc, intent.inbox_address), 0n);
    const found = await runLedgerChecks(db);
    assert.deepEqual(
      found.map(({ check }) => check),
      ["sweep-empties-inbox"],
      "the first sweep of each inbox took a part",
    );
    assert.ok(found[0]?.rows.some((row) => row["intent"] === intent.id));
  });

  test("what came before a sweep leaves its rest alone until the sweep is observed", async () => {
    const intent = await roads.create();
    chain.pay(intent, 10n * USDC);
    takePart(intent, 4n * USDC);
    for (let transfers = 0; transfers < 5; transfers += 1) chain.pay(intent, 2n * USDC);
    chain.mine();
    const restOf = async () =>
      (await db.root.selectFrom("holding").selectAll().where("intent_id", "=", intent.id).executeTakeFirst())
        ?.rest_units;
    await chain.watch();
    await chain.decide();
    assert.equal((await restOf()) ?? 0n, 0n, "no batch of arrivals reads what came after the sweep");
    await chain.settle();
    assert.equal(await restOf(), 6n * USDC);
    await chain.advance(8);
    assert.equal(await restOf(), 0n);
    assert.deepEqual(
      (await settlementsOf(intent)).map(([, units]) => units),
      [4n * USDC, 16n * USDC],
    );
  });

  test("what a reorganisation takes back of it is not planned", async () => {
    const intent = await roads.create();
    chain.pay(intent, 10n * USDC);
    await chain.advance(1);
    takePart(intent, 4n * USDC);
    chain.mine();
    await chain.watch();
    await chain.decide();
    await chain.settle();
    chain.scripted.reorg(1, { isLost: ({ sender }) => sender === intent.inbox_address });
    await chain.advance(8);
    assert.equal(chain.scripted.unitsOf(chain.usdc, intent.inbox_address), 0n);
    const landed = (await settlementsOf(intent)).filter(([status]) => status === "landed");
    assert.deepEqual(landed, [["landed", 10n * USDC]]);
    assert.deepEqual(
      (await runLedgerChecks(db)).filter(({ check }) => check !== "sweep-empties-inbox"),
      [],
    );
  });
});
