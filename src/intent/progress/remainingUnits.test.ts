import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { isPriceReached } from "../paymentStatus.ts";
import { remainingUnits, roundDownToMillionth, roundUpToMillionth, type ReceivedProgress } from "./remainingUnits.ts";

function progressWith(change: Partial<ReceivedProgress>): ReceivedProgress {
  return { price_token_units: 1_000n, underpay_tolerance_bps: 0, received_units: 0n, agreement_units: 0n, ...change };
}

test("D47 what is left is the price less everything that arrived, and nothing within the tolerance", () => {
  const table: [Partial<ReceivedProgress>, bigint | null][] = [
    [{}, 1_000n],
    [{ received_units: 400n }, 600n],
    [{ received_units: 400n, agreement_units: 500n }, 100n],
    [{ received_units: 999n }, 1n],
    [{ received_units: 1_000n }, 0n],
    [{ received_units: 5_000n }, 0n],
    [{ received_units: 949n, underpay_tolerance_bps: 500 }, 51n],
    [{ received_units: 950n, underpay_tolerance_bps: 500 }, 0n],
    [{ price_token_units: null, received_units: 7n }, null],
  ];
  for (const [change, expected] of table) assert.equal(remainingUnits(progressWith(change)), expected);
});

test("D47 who pays what is left has paid, and is asked for no more than is missing", () => {
  const anyUnits = fc.bigInt({ min: 0n, max: 2n ** 120n });
  const anyTolerance = fc.integer({ min: 0, max: 500 });
  fc.assert(
    fc.property(fc.tuple(anyUnits, anyUnits, anyUnits), anyTolerance, ([base, received, held], toleranceBps) => {
      const price = base + 1n;
      const totals = { received_units: received, agreement_units: held };
      const left = remainingUnits({ price_token_units: price, underpay_tolerance_bps: toleranceBps, ...totals }) ?? -1n;
      assert.ok(left === 0n || left === price - received - held);
      assert.ok(isPriceReached(price, toleranceBps, received + held + left));
    }),
  );
});

test("D57 amounts in words are whole millionths", () => {
  assert.equal(roundUpToMillionth(1n, 18), 10n ** 12n);
  assert.equal(roundUpToMillionth(10n ** 12n, 18), 10n ** 12n);
  assert.equal(roundUpToMillionth(7n, 6), 7n);
  assert.equal(roundUpToMillionth(7n, 2), 7n);
  assert.equal(roundDownToMillionth(10n ** 12n - 1n, 18), 0n);
  assert.equal(roundDownToMillionth(10n ** 12n + 1n, 18), 10n ** 12n);
});
