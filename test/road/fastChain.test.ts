import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemTimer } from "../../src/kernel/clock.ts";
import type { Hex } from "viem";
import { findCursor } from "../../src/watch/store/store.ts";
import { openFaultyRpcProxy, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
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

describe("a chain with five blocks a second and two providers that must agree", () => {
  let road: Road;
  let proxies: FaultyRpcProxy[] = [];

  before(async () => {
    road = await openRoad({
      blockTimeSeconds: 0.2,
      chain: { finality: FINALITY, agreement: { providers: 2, abovePriceUnits: 0n } },
      rpcUrls: async ({ rpcUrl }) => {
        proxies = await Promise.all([openFaultyRpcProxy(rpcUrl), openFaultyRpcProxy(rpcUrl)]);
        // Two hosts, as two operators have them.
        return proxies.map(({ url }, index) => (index === 0 ? url : url.replace("127.0.0.1", "localhost")));
      },
    });
  });
  after(async () => {
    for (const proxy of proxies) await proxy.close();
    await road.close();
  });

  test("a payment counts once both show by their own blocks that it is old enough", async () => {
    const intent = await road.create();
    const chainTx = await road.pay(intent, 1_000n);
    const { blockNumber } = await road.chain.client.getTransactionReceipt({ hash: chainTx as Hex });
    const paid = await road.chain.client.getBlock({ blockNumber });
    const firstAbove = async (ageS: number) => {
      for (;;) {
        const block = await road.chain.client.getBlock();
        if (Number(block.timestamp - paid.timestamp) >= ageS && block.number > paid.number) return block;
        await systemTimer.sleep(TICK_MS);
      }
    };
    // The second one's newest block is a second younger than the payment's must be.
    const young = await firstAbove(SECONDS - 1);
    const youngRaw = await road.chain.client.request<{ Method: string; Parameters: unknown[]; ReturnType: object }>({
      method: "eth_getBlockByNumber",
      params: [`0x${young.number.toString(16)}`, false],
    });
    ok(Number(young.timestamp - paid.timestamp) < SECONDS);
    const [, second] = proxies;
    ok(second && youngRaw);
    second.alterReply = ({ method, params }, answer) =>
      method === "eth_getBlockByNumber" && params[0] === "latest" ? youngRaw : answer;
    await firstAbove(SECONDS + 2);
    for (let ticks = 0; ticks < 20; ticks += 1) {
      await road.tick();
      const [deposit] = await road.deposits(intent);
      ok(deposit === undefined || deposit.status === "seen", deposit?.status);
      await systemTimer.sleep(TICK_MS);
    }
    equal((await road.deposits(intent)).length, 1);
    second.alterReply = undefined;
    for (let ticks = 0; ticks < TICKS_MAX; ticks += 1) {
      await road.tick();
      const [deposit] = await road.deposits(intent);
      if (deposit?.status === "counted") {
        ok(deposit.agreed_at, "both confirmed it");
        return;
      }
      await systemTimer.sleep(TICK_MS);
    }
    throw new Error("it was never counted");
  });
});
