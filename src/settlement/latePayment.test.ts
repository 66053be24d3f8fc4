import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openMerchant } from "../../test/cost/costWorld.ts";
import { openScriptedRoad, type ScriptedRoad } from "../../test/cost/scriptedRoad.ts";
import { tokenCalls } from "../../test/sim/chain/token.ts";
import { openTestDatabase } from "../../test/support/database.ts";
import { assertAllChecks } from "../../test/support/ledgerAssertions.ts";
import type { Db } from "../db/database.ts";
import { createIntent } from "../intent/createIntent.ts";
import type { IntentRow } from "../intent/store.ts";

const USDC = 1_000_000n;
const WALLET = `0x${"d3".repeat(20)}`;

describe("a payment that providers omitted until a sweep had taken it", () => {
  let db: Db;
  let road: ScriptedRoad;
  before(async () => {
    db = await openTestDatabase("postgres");
    road = openScriptedRoad(db);
    await road.tick();
  });
  after(() => db.close());

  const settlementsOf = async ({ id }: IntentRow) =>
    (await db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute()).map(
      ({ status, gross_units: gross }) => [status, gross],
    );

  test("belongs to that sweep, also while a later settlement waits: money that came later is not held", async () => {
    const account = await openMerchant(road, WALLET);
    const { intent } = await createIntent(db.root, road.world, { account, input: {} });
    road.omitted.add(road.pay(intent.inbox_address, 7n * USDC));
    road.pay(intent.inbox_address, 5n * USDC);
    await road.advance(1);
    // The sweep is on its way. What comes after it cannot settle yet.
    road.pay(intent.inbox_address, 3n * USDC);
    road.callAsOwner(tokenCalls.block(WALLET));
    await road.advance(1);
    assert.deepEqual(await settlementsOf(intent), [
      ["landed", 12n * USDC],
      ["planned", null],
    ]);
    road.callAsOwner(tokenCalls.unblock(WALLET));
    await road.advance(6);
    road.passTime(3_600_000);
    await road.advance(3);
    assert.deepEqual(await settlementsOf(intent), [
      ["landed", 12n * USDC],
      ["landed", 3n * USDC],
    ]);
    const { counted_units: counted, settled_units: settled } = await db.root
      .selectFrom("intent")
      .selectAll()
      .where("id", "=", intent.id)
      .executeTakeFirstOrThrow();
    assert.deepEqual([counted, settled], [15n * USDC, 15n * USDC]);
    await assertAllChecks(db);
  });

  test("belongs to that sweep also below the minimum, without a further settlement", async () => {
    const account = await openMerchant(road, WALLET);
    // Each payment reaches the price, so that it is a deposit although it is below the minimum of a dollar.
    const input = { merchantReference: "below", priceUnits: 400_000, oneTime: false };
    const { intent } = await createIntent(db.root, road.world, { account, input });
    road.omitted.add(road.pay(intent.inbox_address, 400_000n));
    road.pay(intent.inbox_address, 500_000n);
    await road.advance(8);
    assert.deepEqual(await settlementsOf(intent), [["landed", 900_000n]]);
    road.passTime(3_600_000);
    await road.advance(3);
    assert.deepEqual(await settlementsOf(intent), [["landed", 900_000n]]);
    const deposits = await db.root.selectFrom("deposit").selectAll().where("intent_id", "=", intent.id).execute();
    assert.deepEqual(
      deposits.map(({ status, settlement_id: settlement }) => [status, settlement !== null]),
      [
        ["counted", true],
        ["counted", true],
      ],
    );
    await assertAllChecks(db);
  });

  test("is no dust any more when a provider had shown it as dust", async () => {
    const account = await openMerchant(road, WALLET);
    const { intent } = await createIntent(db.root, road.world, { account, input: { merchantReference: "small" } });
    const chainTx = road.pay(intent.inbox_address, 5n * USDC);
    let isDisputed = true;
    for (const [index, node] of road.nodes.entries()) {
      const read = node.transfers.bind(node);
      node.transfers = async (...request) => {
        const isFalse = "blockHash" in request[0] || (index === 1 && isDisputed);
        const transfers = await read(...request);
        return transfers.map((each) => (isFalse && each.chainTx === chainTx ? { ...each, amountText: "3000" } : each));
      };
    }
    const unitsOf = async () => {
      const { received_units: received, counted_units: counted } = await db.root
        .selectFrom("intent")
        .selectAll()
        .where("id", "=", intent.id)
        .executeTakeFirstOrThrow();
      return [received, counted];
    };
    await road.advance(6);
    assert.deepEqual(await unitsOf(), [3_000n, 0n]);
    isDisputed = false;
    road.passTime(3_600_000);
    await road.advance(8);
    assert.deepEqual(await unitsOf(), [5n * USDC, 5n * USDC]);
    await assertAllChecks(db);
  });
});
