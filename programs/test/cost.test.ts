import assert from "node:assert/strict";
import { test } from "node:test";
import { measureCosts } from "../scripts/measure.ts";

// Compute units of the program's own transactions. They do not depend on the machine; the bumps of random addresses
// change some by a little.

const costs = new Map(measureCosts().map((cost) => [cost.name, cost]));
const unitsOf = (name: string) => costs.get(name)?.computeUnits ?? assert.fail(name);

test("a settlement costs at most 4,600 units with its close, and 3,850 in a batch of eight", () => {
  assert.ok(unitsOf("settle and close") <= 4_600, String(unitsOf("settle and close")));
  assert.ok(unitsOf("8 inboxes in one instruction, closed, each") <= 3_850);
  assert.ok(unitsOf("settle, empty inbox") <= 1_200);
});

test("a bridge costs at most 30,000 units against the double", () => {
  assert.ok(unitsOf("bridge by a stranger (double)") <= 30_000);
  assert.ok(unitsOf("bridge and close by the operator (double)") <= 30_000);
});

test("every transaction fits into a packet without a lookup table", () => {
  for (const { name, bytes } of costs.values()) assert.ok(bytes <= 1_232, `${name}: ${bytes}`);
});
