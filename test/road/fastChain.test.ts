import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemTimer } from "../../src/kernel/clock.ts";
import { findCursor } from "../../src/watch/store/store.ts";
import { openRoad, type Road } from "../support/road.ts";

const SECONDS = 3;
const TICK_MS = 100;
const TICKS_MAX = 600;
const FINALITY = [{ upToPriceUnits: undefined, finality: { seconds: SECONDS } }];

describe("a chain with five blocks a second", () => {
  let road: Road;

  before(async () => {
    road = await openRoad({ blockTimeSeconds: 0.2, chain: { finality: FINALITY } });
  });
  after(() => road.close());

  /** The time of a block on the chain's own clock, in seconds. */
  async function timeOf(blockNumber: bigint): Promise<number> {
    return Number((await road.chain.client.getBlock({ blockNumber })).timestamp);
  }

  async function cursorNumber(): Promise<bigint> {
    return (await findCursor(road.world.db, road.chain.caip2))?.number ?? -1n;
  }

  test("a payment counts after its configured seconds, neither sooner nor by a number of blocks", async () => {
    const intent = await road.create();
    await road.pay(intent, 1_000n);
    let lastPending = -1n;
    for (let ticks = 0; ticks < TICKS_MAX; ticks += 1) {
      await road.tick();
      const [deposit] = await road.deposits(intent);
      if (deposit?.status === "counted") {
        deepEqual([deposit.required_seconds, deposit.required_confirmations], [SECONDS, null]);
        const paidAtS = await timeOf(deposit.block_number);
        const counted = await cursorNumber();
        ok((await timeOf(counted)) - paidAtS >= SECONDS, "counted too early");
        ok((await timeOf(lastPending)) - paidAtS < SECONDS, "counted too late");
        ok(counted - deposit.block_number > 5n, "many blocks lie above, and none of them counted");
        return;
      }
      equal(deposit?.status ?? "seen", "seen");
      lastPending = await cursorNumber();
      await systemTimer.sleep(TICK_MS);
    }
    throw new Error("it was never counted");
  });

  test("its blocks share their times", async () => {
    const head = await road.chain.client.getBlockNumber({ cacheTime: 0 });
    const times = await Promise.all([0n, 1n, 2n, 3n, 4n].map((back) => timeOf(head - back)));
    ok(new Set(times).size < times.length, times.join());
  });
});
