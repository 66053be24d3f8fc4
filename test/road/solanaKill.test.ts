import assert from "node:assert/strict";
import { test } from "node:test";
import { runSolanaKills } from "../chaos/runSolanaKills.ts";

/** A sample; `npm run test:deep` kills it twenty times. */
const KILLS = 2;
const SEED = 91;

test(`after ${KILLS} kills -9 while payments on Solana settle, every one of them is settled exactly once`, async () => {
  const report = await runSolanaKills({ kills: KILLS, seed: SEED });
  assert.deepEqual(report.findings, [], report.output);
  assert.equal(report.exitCode, 0);
  assert.ok(report.payments > 0 && report.settlements > 0, JSON.stringify(report));
});
