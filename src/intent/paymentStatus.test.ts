import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openTestDatabase } from "../../test/support/database.ts";
import { fc } from "../../test/support/properties.ts";
import {
  excessUnits,
  isDeliverable,
  isPriceReached,
  nearlyReachesPrice,
  paymentStatus,
  reachesPrice,
  shortfallUnits,
  type IntentProgress,
} from "./paymentStatus.ts";

function progressWith(change: Partial<IntentProgress>): IntentProgress {
  return { price_token_units: 100n, one_time: true, counted_units: 0n, underpay_tolerance_bps: 0, ...change };
}

test("D2 the payment status compares the counted amount with the price", () => {
  const table: [Partial<IntentProgress>, string][] = [
    [{ counted_units: 0n }, "unpaid"],
    [{ counted_units: 1n }, "partial"],
    [{ counted_units: 99n }, "partial"],
    [{ counted_units: 100n }, "paid"],
    [{ counted_units: 101n }, "overpaid"],
    [{ counted_units: 101n, one_time: false }, "paid"],
    [{ counted_units: 0n, price_token_units: null, one_time: false }, "unpaid"],
    [{ counted_units: 1n, price_token_units: null, one_time: false }, "paid"],
  ];
  for (const [change, expected] of table)
    assert.equal(paymentStatus(progressWith(change)), expected, JSON.stringify(expected));
});

test("D8 a shortfall within the tolerance is paid and still reported", () => {
  const intent = progressWith({ price_token_units: 1_000n, underpay_tolerance_bps: 500, counted_units: 950n });
  assert.equal(paymentStatus(intent), "paid");
  assert.equal(shortfallUnits(intent), 50n);
  assert.equal(isPriceReached(1_000n, 500, 949n), false);
});

test("D2 shortfall and excess exclude each other, and counted plus shortfall minus excess equals the price", () => {
  const anyUnits = fc.bigInt({ min: 0n, max: 2n ** 200n });
  fc.assert(
    fc.property(anyUnits, anyUnits, (price, counted) => {
      const intent = progressWith({ price_token_units: price + 1n, counted_units: counted });
      assert.equal(counted + shortfallUnits(intent) - excessUnits(intent), price + 1n);
      assert.ok(shortfallUnits(intent) === 0n || excessUnits(intent) === 0n);
    }),
  );
});

test("SQL decides as the program does whether units reach a price, or all but a millionth of the currency", async (t) => {
  const prices = [1n, 999n, 25_000_000n, 10n ** 30n].flatMap((price) =>
    [6, 8, 18].flatMap((decimals) => [0, 1, 500, 9_999].map((toleranceBps) => ({ price, decimals, toleranceBps }))),
  );
  const cases = prices.flatMap(({ price, decimals, toleranceBps }) => {
    const lowest = (price * BigInt(10_000 - toleranceBps)) / 10_000n;
    const millionth = 10n ** BigInt(decimals - 6);
    return [lowest - 1n, lowest, lowest + 1n, price - millionth, price - millionth + 1n, price].map((units) => ({
      units,
      price_token_units: price,
      payout_decimals: decimals,
      underpay_tolerance_bps: toleranceBps,
    }));
  });
  const rows = cases.map((one) => ({ ...one, units: `${one.units}`, price_token_units: `${one.price_token_units}` }));
  const db = await openTestDatabase("pglite");
  t.after(() => db.close());
  const found = await sql<{ reaches: boolean; nearly: boolean }>`
    select ${reachesPrice(sql`units`)} as reaches, ${nearlyReachesPrice(sql`units`)} as nearly
    from rows from (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as (units numeric, price_token_units numeric, payout_decimals int, underpay_tolerance_bps int)) with ordinality
      as intent (units, price_token_units, payout_decimals, underpay_tolerance_bps, place) order by place`.execute(
    db.root,
  );
  const expected = cases.map(({ units, price_token_units: price, underpay_tolerance_bps: toleranceBps, ...rest }) => ({
    reaches: isPriceReached(price, toleranceBps, units),
    nearly: isDeliverable({ price, toleranceBps, decimals: rest.payout_decimals }, units),
  }));
  assert.deepEqual(found.rows, expected);
});
