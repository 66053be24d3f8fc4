import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { openScriptedRoads, type RoadChain, type ScriptedRoads } from "../../test/support/scriptedRoads.ts";
import type { Db } from "../db/database.ts";
import type { IntentRow } from "../intent/store.ts";

// A price below every minimum is delivered once it is reached, on each kind of way.

/** One price unit, a millionth, of a token with 18 decimals. */
const MILLIONTH = 10n ** 12n;
const FINAL = 3;

describe("a reached price below the minimum", () => {
  let db: Db;
  let roads: ScriptedRoads;
  let home: RoadChain;
  let away: RoadChain;
  before(async () => {
    db = await openTestDatabase("postgres");
    const coin = { decimals: 18, minimumUnits: 10n ** 16n };
    roads = await openScriptedRoads(db, {
      chains: [
        { coin, finalized: FINAL },
        { minimumUnits: 10_000n, finalized: FINAL },
      ],
    });
    const [first, second] = roads.chains;
    assert(first && second);
    [home, away] = [first, second];
  });
  after(() => db.close());

  let wallets = 0;
  /** A price in millionths of a coin with 18 decimals. */
  const createCoin = (priceUnits: number) =>
    roads.create({
      priceUnits,
      oneTime: true,
      payoutChainReference: "31337",
      payoutWallet: `0x${String((wallets += 1)).padStart(40, "d")}`,
      payoutTokenAddress: home.coin,
    });
  const settlementsOf = async ({ id }: IntentRow) =>
    (await db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute()).map(
      ({ status, gross_units: gross }) => [status, gross],
    );
  const stateOf = async (intent: IntentRow) => {
    const { status, counted_units: counted } = await roads.intent(intent);
    return [status, counted];
  };
  async function payCoin(intent: IntentRow, units: bigint): Promise<void> {
    home.pay(intent, units, home.coin);
    await home.advance(FINAL * 3);
  }

  test("D57 of the smallest price in a token with 18 decimals is paid out", async () => {
    const intent = await createCoin(1);
    await payCoin(intent, MILLIONTH);
    assert.deepEqual(await stateOf(intent), ["settled", MILLIONTH]);
    assert.deepEqual(await settlementsOf(intent), [["landed", MILLIONTH]]);
    // Once it is delivered, the minimum holds again.
    await payCoin(intent, 1n);
    assert.deepEqual(await settlementsOf(intent), [["landed", MILLIONTH]]);
  });

  test("D57 that several transfers reach together is paid out, dust included", async () => {
    const intent = await createCoin(3);
    for (let part = 0; part < 3; part += 1) await payCoin(intent, MILLIONTH);
    assert.deepEqual(await stateOf(intent), ["settled", 3n * MILLIONTH]);
    const settled = await settlementsOf(intent);
    assert.deepEqual(
      settled.map(([status]) => status),
      settled.map(() => "landed"),
    );
    assert.equal(home.scripted.unitsOf(home.coin, intent.inbox_address), 0n);
  });

  test("D57 with less than a millionth missing is paid out, and a stranger cannot buy a settlement a unit", async () => {
    const intent = await createCoin(5);
    await payCoin(intent, 5n * MILLIONTH - 9n);
    assert.deepEqual(await stateOf(intent), ["active", 5n * MILLIONTH - 9n]);
    assert.deepEqual(await settlementsOf(intent), [["landed", 5n * MILLIONTH - 9n]]);
    for (let sent = 0; sent < 3; sent += 1) await payCoin(intent, 1n);
    assert.equal((await settlementsOf(intent)).length, 1);
    await payCoin(intent, 6n);
    assert.deepEqual(await stateOf(intent), ["settled", 5n * MILLIONTH]);
    assert.deepEqual(await settlementsOf(intent), [
      ["landed", 5n * MILLIONTH - 9n],
      ["landed", 9n],
    ]);
  });

  test("D57 below a price of a millionth more nothing counts and nothing is planned", async () => {
    const intent = await createCoin(5);
    await payCoin(intent, 4n * MILLIONTH);
    assert.deepEqual(await stateOf(intent), ["active", 0n]);
    assert.deepEqual(await settlementsOf(intent), []);
  });

  test("D57 over a route leaves the chain of the payment", async () => {
    const intent = await roads.create({ priceUnits: 5_000, oneTime: true });
    away.pay(intent, 5_000n);
    await away.advance(FINAL * 3);
    assert.deepEqual(await stateOf(intent), ["settled", 5_000n]);
    assert.deepEqual(await settlementsOf(intent), [["bridging", null]]);
    assert.equal(away.scripted.unitsOf(away.usdc, intent.inbox_address), 0n);
  });

  test("D57 over two chains leaves both", async () => {
    const intent = await roads.create({ priceUnits: 9_000, oneTime: true });
    away.pay(intent, 5_000n);
    await away.advance(FINAL * 3);
    assert.deepEqual(await stateOf(intent), ["active", 0n]);
    home.pay(intent, 4_000n);
    await home.advance(FINAL * 3);
    await away.advance(FINAL);
    assert.deepEqual(await stateOf(intent), ["settled", 9_000n]);
    assert.deepEqual(
      (await settlementsOf(intent)).map(([status]) => status),
      ["landed", "bridging"],
    );
    for (const { scripted, usdc } of [home, away]) assert.equal(scripted.unitsOf(usdc, intent.inbox_address), 0n);
  });
});
