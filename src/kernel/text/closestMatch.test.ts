import assert from "node:assert/strict";
import { test } from "node:test";
import { closestMatch } from "./closestMatch.ts";

const FIELDS = ["payoutWallet", "payoutNamespace", "priceUnits", "oneTime", "metadata"];

for (const [text, expected] of [
  ["payoutWalet", "payoutWallet"],
  ["payout_wallet", "payoutWallet"],
  ["onetime", "oneTime"],
  ["proceUnits", "priceUnits"],
  ["metadtaa", "metadata"],
  ["colour", undefined],
  ["", undefined],
] as const) {
  test(`${JSON.stringify(text)} is closest to ${String(expected)}`, () =>
    assert.equal(closestMatch(text, FIELDS), expected));
}
