import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./nearest.ts";

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
  test(`${JSON.stringify(typed)} is taken for ${String(meant)}`, () => assert.equal(nearest(typed, FIELDS), meant));
}
