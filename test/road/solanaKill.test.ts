import assert from "node:assert/strict";
import { test } from "node:test";
import { runSolanaKills } from "../chaos/runSolanaKills.ts";
import { onlyDeep } from "../support/runNumber.ts";

/** A sample of what `npm run test:deep` does with twenty; `npm test` kills a service with EVM chains. */
const KILLS = 2;
const SEED = 91;

const TITLE = `after ${KILLS} kills -9 while payments on Solana settle, every one of them is settled exactly once`;

test(TITLE, { skip: onlyDeep }, async () => {
  const report = await runSolanaKills({ kills: KILLS, seed: SEED });
  assert.deepEqual(report.findings, [], report.output);
  assert.equal(report.exitCode, 0);
  assert.ok(report.payments > 0 && report.settlements > 0, JSON.stringify(report));
});
