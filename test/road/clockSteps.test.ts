import assert from "node:assert/strict";
import { after, afterEach, before, describe, mock, test } from "node:test";
import { openServerClock, type ServerClock } from "../../src/db/serverClock.ts";
import { openTestDatabase } from "../support/database.ts";
import { openRoad, type Road } from "../support/road.ts";

const HOUR_MS = 3_600_000;
/** Rounds in which a payment is counted, submitted and landed when nothing waits. */
const ROUNDS_MAX = 8;

describe("a machine whose clock steps", () => {
  let road: Road;
  let clock: ServerClock;
  before(async () => {
    const db = await openTestDatabase("postgres");
    clock = await openServerClock(db);
    road = await openRoad({ db, clock, chain: { settleAfterMs: 0 } });
  });
  afterEach(() => mock.timers.reset());
  after(() => road.close());

  for (const [what, stepMs] of [
    ["back", -HOUR_MS],
    ["forward", HOUR_MS],
  ] as const) {
    test(`an hour ${what} between the payment and its settlement delays nothing`, async () => {
      const intent = await road.create({ priceUnits: 5_000_000 });
      await road.pay(intent, 5_000_000n);
      await road.tick();
      mock.timers.enable({ apis: ["Date"], now: Date.now() + stepMs });
      await clock.refresh();
      for (let round = 0; round < ROUNDS_MAX; round += 1) await road.tick();
      const [settlement] = await road.settlements(intent);
      assert.equal(settlement?.status, "landed");
      const [deposit] = await road.deposits(intent);
      const apartMs = Math.abs((settlement?.landed_at?.getTime() ?? 0) - (deposit?.seen_at.getTime() ?? 0));
      assert.ok(apartMs < HOUR_MS / 2, `${apartMs} ms apart`);
    });
  }
});
