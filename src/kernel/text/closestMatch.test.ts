import assert from "node:assert/strict";
import { test } from "node:test";
import { closestMatch } from "./closestMatch.ts";

const FIELDS = ["payoutWallet", "payoutNamespace", "priceUnits", "oneTime", "metadata"];

for (const [typed, meant] of [
  ["payoutWalet", "payoutWallet"],
  ["payout_wallet", "payoutWallet"],
  ["onetime", "oneTime"],
  ["proceUnits", "priceUnits"],
  ["metadtaa", "metadata"],
  ["colour", undefined],
  ["", undefined],
] as const) {
  test(`${JSON.stringify(typed)} is closest to ${String(meant)}`, () =>
    assert.equal(closestMatch(typed, FIELDS), meant));
}
