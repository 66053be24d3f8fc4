import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { TEST_CHAIN } from "../../test/support/intents.ts";
import { setHead } from "../../test/support/movements.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import { isScannerHealthy, readScannerHealth } from "./scannerHealth.ts";

const NOW = new Date("2026-11-01T12:00:00Z");
const ago = (ms: number) => new Date(NOW.getTime() - ms);

test("a scanner is healthy while its cursor's update is within 30 seconds or twenty polls", () => {
  const facts = { now: NOW, pollMs: 1_000 };
  equal(isScannerHealthy(ago(29_999), facts), true);
  equal(isScannerHealthy(ago(30_000), facts), false);
  equal(isScannerHealthy(ago(59_999), { now: NOW, pollMs: 3_000 }), true);
  equal(isScannerHealthy(ago(60_000), { now: NOW, pollMs: 3_000 }), false);
  equal(isScannerHealthy(ago(-3_600_000), facts), false, "an update from before the clock stepped back proves nothing");
});

test("a chain that was never polled is unhealthy", async () => {
  const db = await openTestDatabase("postgres");
  const world = stationWorld(db);
  deepEqual([...(await readScannerHealth(world))], [[TEST_CHAIN, false]]);
  await setHead(db, TEST_CHAIN, { number: 1n });
  await db.root.updateTable("chain_cursor").set({ updated_at: world.clock.now() }).execute();
  deepEqual([...(await readScannerHealth(world))], [[TEST_CHAIN, true]]);
  await db.close();
});
