import assert from "node:assert/strict";
import { test } from "node:test";
import { watchNow } from "../support/watchNow.ts";
import { isSettled, runKills } from "../chaos/runKills.ts";
import { openRoad } from "../support/road.ts";

/** A sample; `npm run test:deep` kills it forty times. */
const KILLS = 2;
const SEED = 91;

test(`after ${KILLS} kills -9 under load every acknowledged intent exists and every payment settles exactly once`, async () => {
  const report = await runKills({ kills: KILLS, seed: SEED, reorgOnceIn: 40, lifeMsMax: 1_500 });
  const { lost, duplicated, ledger, refused, unsettled, exitCode } = report;
  assert.deepEqual({ lost, doubled: duplicated, ledger, refused }, { lost: [], doubled: [], ledger: [], refused: [] });
  assert.deepEqual({ unsettled, exitCode }, { unsettled: 0, exitCode: 0 });
  assert.ok(report.acknowledged > 0 && report.payments > 0 && report.settlements > 0, JSON.stringify(report));
});

test("the end of such a run waits for a payment that is recorded and not processed yet", async (context) => {
  const road = await openRoad();
  context.after(() => road.close());
  const watched = { chain: road.chain, db: road.world.db };
  const [chain] = road.world.chains.values();
  assert.ok(chain);
  assert.equal(await isSettled(watched), true);
  const intent = await road.create();
  await road.pay(intent, 1_000n);
  assert.equal(await isSettled(watched), false, "its block is not recorded");
  await watchNow(road.world, chain);
  assert.equal(await isSettled(watched), false, "it is recorded");
  await road.settle();
  assert.equal(await isSettled(watched), true);
});
