import assert from "node:assert/strict";
import { test } from "node:test";
import { runKills } from "../chaos/runKills.ts";

/** A sample; `npm run test:deep` kills it forty times. */
const KILLS = 3;
const SEED = 91;

test(`J91 after ${KILLS} kills -9 under load every acknowledged intent exists and every payment settles exactly once`, async () => {
  const report = await runKills({ kills: KILLS, seed: SEED, reorgOnceIn: 40, lifeMsMax: 1_500 });
  const { lost, duplicated, ledger, refused, unsettled, exitCode } = report;
  assert.deepEqual({ lost, doubled: duplicated, ledger, refused }, { lost: [], doubled: [], ledger: [], refused: [] });
  assert.deepEqual({ unsettled, exitCode }, { unsettled: 0, exitCode: 0 });
  assert.ok(report.acknowledged > 0 && report.payments > 0 && report.settlements > 0, JSON.stringify(report));
});
