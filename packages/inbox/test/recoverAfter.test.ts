import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";

const dayMs = 86_400_000;
const earliest = { min: new Date("1970-01-01T00:00:00Z"), max: new Date("2999-12-31T23:59:59Z"), noInvalidDate: true };

test("D31: recovery begins with the first UTC month that is at least 180 days away", () => {
  fc.assert(
    fc.property(fc.date(earliest), (createdAt) => {
      const begins = new Date(computeRecoverAfter(createdAt) * 1000);
      assert.equal(begins.toISOString().slice(7), "-01T00:00:00.000Z");
      assert.ok(begins.getTime() - createdAt.getTime() >= 180 * dayMs);
      const monthBefore = Date.UTC(begins.getUTCFullYear(), begins.getUTCMonth() - 1, 1);
      assert.ok(monthBefore - createdAt.getTime() < 180 * dayMs);
    }),
  );
});

test("D31: the exact moment, a millisecond after it, and leap years", () => {
  const cases = [
    ["2026-01-02T00:00:00.000Z", "2026-07-01"],
    ["2026-01-02T00:00:00.001Z", "2026-08-01"],
    ["2026-11-21T12:00:00.000Z", "2027-06-01"],
    ["2027-09-04T00:00:00.000Z", "2028-04-01"],
  ] as const;
  for (const [createdAt, month] of cases) {
    assert.equal(new Date(computeRecoverAfter(new Date(createdAt)) * 1000).toISOString(), `${month}T00:00:00.000Z`);
  }
  assert.throws(() => computeRecoverAfter(new Date(Number.NaN)), RangeError);
});
