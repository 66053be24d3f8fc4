import assert from "node:assert/strict";
import { test } from "node:test";
import { runDeliveryKills } from "../chaos/delivery/runDeliveryKills.ts";

/** A sample; `npm run test:deep` kills fifty. */
const KILLS = Number(process.env["TRIBUTARY_DELIVERY_KILLS"] ?? 2);
const SEED = Number(process.env["TRIBUTARY_DELIVERY_SEED"] ?? 35);

test(`D36 after ${KILLS} kills -9 during deliveries each event has come, unchanged and in its intent's order`, async () => {
  const report = await runDeliveryKills({ kills: KILLS, seed: SEED });
  const { missing, changed, disordered, open, exitCode } = report;
  assert.deepEqual(
    { missing, changed, disordered, open, exitCode },
    { missing: [], changed: [], disordered: [], open: 0, exitCode: 0 },
    JSON.stringify(report),
  );
  assert.ok(report.requests >= 2 * report.events, JSON.stringify(report));
});
