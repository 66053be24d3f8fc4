import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { buildServer } from "../../src/http/server.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { runLoops } from "../../src/loops/runLoops.ts";
import { openTcpProxy, type TcpProxy } from "../support/tcpProxy.ts";
import { addMerchant } from "../support/merchants.ts";
import { openRoad, type Road } from "../support/road.ts";

const WAIT_MS_MAX = 120_000;

describe("a chain whose provider is down", () => {
  let proxy: TcpProxy;
  let road: Road;
  let server: FastifyInstance;
  let apiKey: string;
  let loops: Promise<void>;
  let aheadMs = 0;
  const ending = new AbortController();
  const clock = { ...systemClock, now: () => addMs(systemClock.now(), aheadMs) };

  before(async () => {
    const rpcUrl = async (chain: { rpcUrl: string }) => (proxy = await openTcpProxy(chain.rpcUrl)).url;
    road = await openRoad({ clock, rpcUrl });
    ({ apiKey } = await addMerchant(road.world.db, { chainReference: String(road.chain.chainId) }));
    server = await buildServer(road.world);
    loops = runLoops(road.world, ending.signal);
  });
  after(async () => {
    ending.abort();
    await proxy.disconnect();
    await Promise.all([loops, server.close()]);
    await road.close();
  });

  const headers = () => ({ authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" });
  async function create(): Promise<{ id: string; inbox_address: string }> {
    const response = await server.inject({
      method: "POST",
      url: "/api/v1/intents",
      headers: headers(),
      payload: { priceUnits: 5 },
    });
    assert.equal(response.statusCode, 201, response.body);
    const { intentId, inboxAddress } = response.json<{ intentId: string; inboxAddress: string }>();
    return { id: intentId, inbox_address: inboxAddress };
  }
  async function isIssuable({ id }: { id: string }): Promise<boolean> {
    const response = await server.inject({ url: `/api/v1/intents/${id}/origins`, headers: headers() });
    assert.equal(response.statusCode, 200, response.body);
    return response.json<{ sourceDepositIssuable: boolean }>().sourceDepositIssuable;
  }
  const pay = (intent: { inbox_address: string }) =>
    road.chain.pay(road.chain.usdc.address, intent.inbox_address as `0x${string}`, { amountUnits: 5n });
  async function until(description: string, isDone: () => Promise<boolean>): Promise<void> {
    const startedAt = performance.now();
    while (!(await isDone())) {
      assert.ok(performance.now() - startedAt < WAIT_MS_MAX, `${description} within ${WAIT_MS_MAX} ms`);
      await delay(50);
    }
  }

  test("D28 with a provider down at startup the API works, origins are not issuable, and deposits are found on recovery", async () => {
    const intent = await create();
    assert.equal(await isIssuable(intent), false);
    await pay(intent);
    await road.chain.mine(2);
    await proxy.reconnect();
    await until("issuable", () => isIssuable(intent));
    await until("counted", async () => (await road.intent(intent)).counted_units === 5n);
  });

  test("D28 deposits during a later outage are found on recovery", async () => {
    await proxy.disconnect();
    const intent = await create();
    await pay(intent);
    aheadMs += 31_000;
    assert.equal(await isIssuable(intent), false);
    await proxy.reconnect();
    await until("settled", async () => (await road.intent(intent)).settled_units === 5n);
    assert.equal(await isIssuable(intent), true);
  });
});
