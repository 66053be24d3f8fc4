import { deepEqual, equal, ok } from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import type { Hex } from "viem";
import { verifyDust } from "../../src/deposit/verify/verifyDust.ts";
import { addMs, systemClock, type Clock } from "../../src/kernel/clock.ts";
import { recordPostponed } from "../../src/watch/reread/recordPostponed.ts";
import { retryUnreadable } from "../../src/watch/unreadable/retryUnreadable.ts";
import { openDustSender } from "../support/dustSender.ts";
import { listEventsOf } from "../support/events.ts";
import { openFaultyRpcProxy, type AlterReply, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
import { openRoad, type Road } from "../support/road.ts";

// A stranger sends very many transfers of one unit. They are recorded some seconds later, and nothing else changes.

const MINIMUM = 1_000_000n;
const MANY = 600;
const HOUR_MS = 3_600_000;

describe("a flood of dust", () => {
  let road: Road;
  let proxies: FaultyRpcProxy[] = [];
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => addMs(systemClock.now(), aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };

  async function open(): Promise<void> {
    road = await openRoad({
      clock,
      minimumUnits: MINIMUM,
      chain: { agreement: { providers: 2, abovePriceUnits: 0n } },
      rpcUrls: async ({ rpcUrl }) => {
        proxies = await Promise.all([openFaultyRpcProxy(rpcUrl), openFaultyRpcProxy(rpcUrl)]);
        // Two hosts, as two operators have them.
        return proxies.map(({ url }, index) => (index === 0 ? url : url.replace("127.0.0.1", "localhost")));
      },
    });
  }
  afterEach(async () => {
    for (const proxy of proxies) await proxy.close();
    aheadMs = 0;
    await road.close();
  });

  const chainOf = () => {
    const chain = road.world.chains.get(road.chain.caip2);
    ok(chain);
    return chain;
  };
  async function rounds(count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      await road.chain.mine(1);
      aheadMs += 2_000;
      await road.tick();
      await verifyDust(road.world, chainOf());
    }
  }
  async function recordAll(): Promise<void> {
    while (await recordPostponed(road.world, chainOf()));
  }
  const waiting = async () => (await road.world.db.root.selectFrom("postponed").select("chain_tx").execute()).length;
  const movements = async () => (await road.world.db.root.selectFrom("movement").select("id").execute()).length;

  test("takes nothing back from a payment that small amounts completed, also while a provider is away", async () => {
    await open();
    const intent = await road.create({ priceUnits: Number(MINIMUM) + 500_000, oneTime: true });
    await road.pay(intent, MINIMUM);
    await road.pay(intent, 500_000n);
    await rounds(10);
    equal((await road.intent(intent)).status, "settled");
    const sender = await openDustSender(road.chain);
    await sender.send(intent.inbox_address as Hex, MANY);
    await road.tick();
    await road.pay(intent, 1n);
    await rounds(2);
    equal(await waiting(), 1);
    aheadMs += 4_000;
    const [, second] = proxies;
    ok(second);
    second.isDown = true;
    await recordAll();
    await rounds(3);
    equal((await road.intent(intent)).status, "settled");
    second.isDown = false;
    aheadMs += 70_000;
    await rounds(6);
    const { status, received_units } = await road.intent(intent);
    deepEqual([status, received_units], ["settled", MINIMUM + 500_000n + BigInt(MANY) + 1n]);
    const types = (await listEventsOf(road.world.db, intent.id)).map(({ type }) => type);
    deepEqual(
      types.filter((type) => /dropped|reopened|reversed/.test(type)),
      [],
    );
  });

  test("a postponed transaction that nobody can read has a row for that, and is recorded once somebody can", async () => {
    await open();
    const intent = await road.create();
    const sender = await openDustSender(road.chain);
    await sender.send(intent.inbox_address as Hex, MANY);
    const [odd = ""] = (await road.chain.client.getBlock()).transactions;
    const withoutStatus: AlterReply = ({ method, params }, answer) =>
      method === "eth_getTransactionReceipt" && params[0] === odd
        ? { ...(answer as object), status: "a later form" }
        : answer;
    for (const proxy of proxies) proxy.alterReply = withoutStatus;
    await road.tick();
    const unreadable = async () =>
      (await road.world.db.root.selectFrom("unreadable").select("chain_tx").execute()).map(({ chain_tx }) => chain_tx);
    deepEqual([await waiting(), await unreadable()], [1, []]);
    for (let tries = 0; tries < 3; tries += 1) {
      aheadMs += 62_000;
      await recordAll().catch(() => undefined);
      await rounds(2);
    }
    deepEqual([await waiting(), await unreadable(), await movements()], [0, [odd], 0]);
    for (const proxy of proxies) proxy.alterReply = undefined;
    aheadMs += HOUR_MS;
    await retryUnreadable(road.world, chainOf());
    deepEqual([await unreadable(), await movements()], [[], MANY]);
    await rounds(4);
  });
});
