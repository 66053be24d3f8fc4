import assert from "node:assert/strict";
import { test } from "node:test";
import { runPauses } from "../chaos/runPauses.ts";
import { onlyDeep } from "../support/runNumber.ts";

test("pausing and resuming one of two services loses and duplicates nothing", { skip: onlyDeep }, async () => {
  const report = await runPauses({ pauses: 3, pauseMsMin: 1_000, pauseMsMax: 3_000, seed: 36 });
  const { lost, duplicated, ledger, unsettled, exitCodes } = report;
  assert.deepEqual({ lost, doubled: duplicated, ledger }, { lost: [], doubled: [], ledger: [] });
  assert.deepEqual({ unsettled, exitCodes }, { unsettled: 0, exitCodes: [0, 0] });
  assert.ok(report.acknowledged > 0 && report.payments > 0, JSON.stringify(report));
});
