import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { IntentRow } from "../../src/intent/store.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { runChecks } from "../../src/ledger/check.ts";
import { createLoops } from "../../src/loops/runLoops.ts";
import { settlementChecks } from "../../src/settlement/checks.ts";
import { openRoad, type Road } from "../support/road.ts";

const USDC = 1_000_000n;
const SETTLE_AFTER_MS = 10_000_000;

describe("counted money for which no settlement is due", () => {
  let road: Road;
  let aheadMs = 0;
  before(async () => {
    const clock = { ...systemClock, now: () => addMs(systemClock.now(), aheadMs) };
    road = await openRoad({ clock, chain: { settleAfterMs: SETTLE_AFTER_MS } });
  });
  after(() => road.close());

  const statusesOf = async (intent: IntentRow) => (await road.settlements(intent)).map(({ status }) => status);
  const violations = async () => (await runChecks(road.world.db, settlementChecks)).map(({ check }) => check);
  async function runLoop(): Promise<void> {
    const loop = createLoops(road.world).find(({ name }) => name === "forgotten inboxes");
    assert(loop, "the loop runs in every process");
    await loop.tick();
  }

  test("is found by the checks and planned by itself", async () => {
    const [forgotten, waiting, miscounted] = [await road.create(), await road.create(), await road.create()];
    for (const intent of [forgotten, waiting, miscounted]) await road.pay(intent, 3n * USDC);
    await road.tick();
    await road.world.db.root
      .updateTable("holding")
      .set({ due_from: null })
      .where("intent_id", "=", forgotten.id)
      .execute();
    // An older transaction has written over a newer one's sum.
    await road.world.db.root
      .updateTable("holding")
      .set({ due_from: null, unswept_units: 0n, unswept_since: null })
      .where("intent_id", "=", miscounted.id)
      .execute();
    const query = road.world.db.root.selectFrom("holding").selectAll().where("intent_id", "=", waiting.id);
    const before = await query.execute();
    await road.tick();
    assert.deepEqual(await violations(), ["due-money-is-planned"]);
    await runLoop();
    assert.deepEqual(await violations(), []);
    assert.deepEqual(await query.execute(), before, "what is due already stays as it is");
    aheadMs = SETTLE_AFTER_MS + 60_000;
    await road.settle();
    for (const intent of [forgotten, waiting, miscounted]) assert.deepEqual(await statusesOf(intent), ["landed"]);
    await runLoop();
    assert.deepEqual(await statusesOf(forgotten), ["landed"]);
  });
});
