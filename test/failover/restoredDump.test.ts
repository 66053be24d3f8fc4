import assert from "node:assert/strict";
import { test } from "node:test";
import { findDumpPrograms, runRestore } from "../chaos/runRestore.ts";

const skip = findDumpPrograms() === undefined ? "Debian's postgresql is not installed" : false;

test("an older dump is restored while chains went on: money counts and leaves once", { skip }, async () => {
  const { lost, duplicated, ledger, imported, output, ...report } = await runRestore({ seed: 38, loadMs: 1_500 });
  assert.deepEqual({ lost, duplicated, ledger }, { lost: [], duplicated: [], ledger: [] }, imported);
  const { unsettled, exitCode, emptyTransactions } = report;
  const expected = { unsettled: 0, exitCode: 0, emptyTransactions: [] };
  assert.deepEqual({ unsettled, exitCode, emptyTransactions }, expected, output);
  assert.ok(report.forgotten > 0 && report.forgottenPayouts > 0 && report.payments > 0, JSON.stringify(report));
  assert.ok(report.restoredFeeds > 0, JSON.stringify(report));
  assert.doesNotMatch(imported, /✗/);
});
