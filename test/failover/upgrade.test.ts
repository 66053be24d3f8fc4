import assert from "node:assert/strict";
import { test } from "node:test";
import { migrations } from "../../src/db/migrations/list.ts";
import { runUpgrade } from "../chaos/runUpgrade.ts";

test("a database of the baseline is upgraded under traffic: no request fails, and its money stays", async () => {
  const { check, lost, duplicated, ledger, refused, ...report } = await runUpgrade({ seed: 23, loadMs: 1_500 });
  const pending = migrations
    .slice(migrations.findIndex(({ name }) => name === "0117_http") + 1)
    .map(({ name }) => name);
  assert.deepEqual([check.ok, check.migrations], [true, pending]);
  assert.ok(["deposit", "holding", "unreadable"].every((name) => check.tables.some((table) => table.name === name)));
  assert.deepEqual({ lost, duplicated, ledger, refused }, { lost: [], duplicated: [], ledger: [], refused: [] });
  const { failed, unsettled, isMoneyKept, exitCodes } = report;
  const expected = { failed: 0, unsettled: 0, isMoneyKept: true, exitCodes: [0, 0] };
  assert.deepEqual({ failed, unsettled, isMoneyKept, exitCodes }, expected, report.output);
  assert.ok(report.acknowledged > 0 && report.payments > 0, JSON.stringify(report));
});
