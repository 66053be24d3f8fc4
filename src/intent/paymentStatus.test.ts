import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/properties.ts";
import { excessUnits, isPriceReached, paymentStatus, shortfallUnits, type IntentProgress } from "./paymentStatus.ts";

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
