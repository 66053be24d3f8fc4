import assert from "node:assert/strict";
import { test } from "node:test";
import { runSwitchover } from "../chaos/runSwitchover.ts";

test("kill -9 of the primary under load, with synchronous replication, loses and doubles nothing", async () => {
  const { lost, duplicated, ledger, unsettled, exitCode, readyMs, createMs, ...report } = await runSwitchover({
    seed: 17,
    loadMs: 1_500,
    isKilled: true,
  });
  assert.deepEqual({ lost, duplicated, ledger }, { lost: [], duplicated: [], ledger: [] });
  assert.deepEqual({ unsettled, exitCode }, { unsettled: 0, exitCode: 0 }, report.output);
  assert.ok(readyMs < 30_000 && createMs < 30_000, `ready after ${readyMs} ms, a create after ${createMs} ms`);
  assert.ok(report.acknowledged > 0 && report.acknowledgedAfter > 0 && report.payments > 0, JSON.stringify(report));
});

test("kill -9 of the primary with asynchronous replication: lost intents are imported, and money counts and leaves once", async () => {
  const { lost, duplicated, ledger, unsettled, exitCode, readyMs, ...report } = await runSwitchover({
    seed: 18,
    loadMs: 1_500,
    isLossy: true,
  });
  assert.deepEqual({ lost, duplicated, ledger }, { lost: [], duplicated: [], ledger: [] }, report.imported);
  assert.deepEqual({ unsettled, exitCode }, { unsettled: 0, exitCode: 0 }, report.output);
  assert.ok(readyMs < 30_000 && report.forgotten > 0, `ready after ${readyMs} ms, ${report.forgotten} forgotten`);
  assert.ok(report.restoredFeeds > 0 && report.payments > 0, JSON.stringify(report));
  assert.doesNotMatch(report.imported, /✗/);
});
