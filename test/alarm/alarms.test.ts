import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import { activeAlarms, readAlarms, updateAlarms } from "../../src/alarm/updateAlarms.ts";
import { thisHost, type HostMetrics } from "../../src/kernel/alarm/hostMetrics.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { openFaultyRpcProxy, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
import { openRoad, type Road } from "../support/road.ts";
import type { Config } from "../../src/config/config.ts";
import { onlyDeep } from "../support/runNumber.ts";

/** How often the loop runs the checks. */
const TICK_MS = 5_000;
const ALARM_MS_MAX = 30_000;

type LogLine = { level: number; msg: string; alarm?: string; subject?: string };

describe("alarms", () => {
  let road: Road;
  let proxies: FaultyRpcProxy[] = [];
  let lines: LogLine[] = [];
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    now: () => addMs(systemClock.now(), aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  let hostMetrics: HostMetrics = thisHost;
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });

  afterEach(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await road.close();
    [proxies, lines, aheadMs] = [[], [], 0];
  });

  async function open(providers: number): Promise<void> {
    hostMetrics = { now: () => clock.now(), freeBytes: async () => 10n ** 12n };
    road = await openRoad({
      clock,
      log,
      chain: { estimates: { blockMs: 1_000 } },
      rpcUrls: async (chain) => {
        proxies = await Promise.all(Array.from({ length: providers }, () => openFaultyRpcProxy(chain.rpcUrl)));
        return proxies.map((proxy) => proxy.url);
      },
    });
    await road.chain.mine(110);
    await check();
  }
  /** One run of the checks, a tick after the last one. The chain mines meanwhile, unless it is stopped. */
  async function check({ isStopped = false } = {}): Promise<string[]> {
    aheadMs += TICK_MS;
    if (!isStopped) {
      await road.chain.client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(clock.now().getTime() / 1_000)) });
      await road.chain.mine(1);
      await road.tick().catch(() => undefined);
    }
    await updateAlarms({ ...road.world, hostMetrics });
    return activeAlarms(road.world).map(({ alarm }) => alarm);
  }
  /** Milliseconds until the alarm is raised. */
  async function raisedAfter(alarm: string, options = {}): Promise<number> {
    const startMs = aheadMs;
    while (!(await check(options)).includes(alarm))
      assert.ok(aheadMs - startMs < ALARM_MS_MAX, `${alarm} within 30 seconds`);
    return aheadMs - startMs;
  }
  async function overAfter(alarm: string): Promise<void> {
    for (let ticks = 0; (await check()).includes(alarm); ticks += 1) assert.ok(ticks < 6, `${alarm} is over`);
  }
  /** Each alarm is logged once as error, and its end once as info. */
  function assertLoggedOnce(alarm: string): void {
    const own = lines.filter((line) => line.alarm === alarm);
    assert.deepEqual(
      own.map(({ level }) => level),
      [50, 30],
      alarm,
    );
  }

  test("a drained gas account raises gas_low and then gas_empty, until it is funded", async () => {
    await open(1);
    const address = road.world.chains.get(road.chain.caip2)?.sender.payer as `0x${string}`;
    const fee = await road.world.chains.get(road.chain.caip2)?.sender.settlementFee();
    assert.ok(fee !== undefined && fee > 0n);
    assert.deepEqual(await check(), []);
    await road.chain.client.setBalance({ address, value: fee * 5n });
    await raisedAfter("gas_low");
    await road.chain.client.setBalance({ address, value: 0n });
    await raisedAfter("gas_empty");
    await road.chain.client.setBalance({ address, value: 10n ** 20n });
    await overAfter("gas_empty");
    assertLoggedOnce("gas_low");
    assertLoggedOnce("gas_empty");
  });

  test("a start after a downtime raises no alarm about scans, unless the chain stays unscanned", async () => {
    await open(1);
    assert.deepEqual(await check(), []);
    aheadMs += 600_000;
    // Another process, whose scanner has not run yet.
    const restarted = { ...road.world, hostMetrics, memory: new ProcessMemory() };
    const raised = async () => {
      await updateAlarms(restarted);
      return activeAlarms(restarted).map(({ alarm }) => alarm);
    };
    assert.ok(!(await raised()).includes("chain_not_scanned"));
    aheadMs += 20_000;
    assert.ok(!(await raised()).includes("chain_not_scanned"));
    aheadMs += 20_000;
    assert.ok((await raised()).includes("chain_not_scanned"));
    const asked = { ...road.world, hostMetrics, memory: new ProcessMemory() };
    assert.ok(
      (await readAlarms(asked)).some(({ alarm }) => alarm === "chain_not_scanned"),
      "a command tells it at once",
    );
  });

  test("a chain whose only provider is down, and one that stops, are found", async () => {
    await open(1);
    Object.assign(proxies[0] ?? {}, { isDown: true });
    await raisedAfter("chain_silent");
    Object.assign(proxies[0] ?? {}, { isDown: false });
    await overAfter("chain_silent");
    assertLoggedOnce("chain_silent");
    await raisedAfter("chain_stalled", { isStopped: true });
    await overAfter("chain_stalled");
    assertLoggedOnce("chain_stalled");
  });

  test("a provider that is down or behind is named while the other one answers", async () => {
    await open(2);
    const [, second] = proxies;
    assert.ok(second);
    second.isDown = true;
    await raisedAfter("provider_down");
    second.isDown = false;
    await overAfter("provider_down");
    assertLoggedOnce("provider_down");
    let frozen: unknown;
    second.alterReply = ({ method, params }, answer) =>
      method === "eth_getBlockByNumber" && params[0] === "latest" ? (frozen ??= answer) : answer;
    await raisedAfter("provider_behind");
    second.alterReply = undefined;
    await overAfter("provider_behind");
    assertLoggedOnce("provider_behind");
  });

  test("a chain whose block time is not the configured one is found", { skip: onlyDeep }, async () => {
    await open(1);
    /**
     * Lets an hour pass, after which the block time is measured again, and mines the blocks by which it is, up to now.
     */
    const mineEvery = async (seconds: number) => {
      aheadMs += 3_600_000;
      const startS = Math.floor(clock.now().getTime() / 1_000) - 1_002 * seconds;
      await road.chain.client.setNextBlockTimestamp({ timestamp: BigInt(startS) });
      await road.chain.client.mine({ blocks: 1_001, interval: seconds });
    };
    await mineEvery(3);
    await raisedAfter("block_time_differs");
    await mineEvery(1);
    await overAfter("block_time_differs");
    assertLoggedOnce("block_time_differs");
  });

  test("a shifted clock, a full disk and an expiring key are found", async () => {
    await open(1);
    hostMetrics = { now: () => addMs(clock.now(), 60_000), freeBytes: async () => 1_000n };
    await raisedAfter("clock_differs");
    assert.ok((await check()).includes("disk_low"));
    hostMetrics = { now: () => clock.now(), freeBytes: async () => 10n ** 12n };
    await overAfter("clock_differs");
    const key = {
      key_id: "k".repeat(16),
      account_id: road.account.id,
      secret_hash: new Uint8Array(32),
      scopes: [],
      created_at: clock.now(),
      expires_at: addMs(clock.now(), 86_400_000),
      revoked_at: null,
      last_used_at: clock.now(),
    };
    await road.world.db.root.insertInto("api_key").values(key).execute();
    await raisedAfter("key_expires");
    await road.world.db.root
      .insertInto("api_key")
      .values({ ...key, key_id: "m".repeat(16), expires_at: null, secret_hash: new Uint8Array(32).fill(1) })
      .execute();
    await overAfter("key_expires");
    for (const alarm of ["clock_differs", "disk_low", "key_expires"]) assertLoggedOnce(alarm);
  });

  test("a webhook and a command receive each alarm and its end", async () => {
    const received: { state: string; alarm: string; runbookUrl: string }[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => void chunks.push(chunk));
      request.on("end", () => {
        received.push(JSON.parse(Buffer.concat(chunks).toString("utf8")) as (typeof received)[number]);
        response.end();
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    try {
      await open(1);
      const webhookUrl = new Secret(`http://127.0.0.1:${(server.address() as AddressInfo).port}/alarm`);
      // The command fails unless it gets the notice.
      const command = ["sh", "-c", 'grep -q "\\"alarm\\":\\"$TRIBUTARY_ALARM\\""'] as const;
      const alarms: Config["alarms"] = { webhookUrl, command };
      Object.assign(road.world.config, { alarms });
      hostMetrics = { ...hostMetrics, freeBytes: async () => 1_000n };
      await check();
      hostMetrics = { ...hostMetrics, freeBytes: async () => 10n ** 12n };
      await check();
      assert.deepEqual(
        received.map(({ alarm, state }) => [alarm, state]),
        [
          ["disk_low", "raised"],
          ["disk_low", "over"],
        ],
      );
      const { baseUrl } = road.world.config;
      assert.equal(received[0]?.runbookUrl, `${baseUrl}/docs/operate/alarms#disk_low`);
      assert.deepEqual(
        lines.filter(({ msg }) => msg.includes("not delivered")),
        [],
      );
    } finally {
      server.close();
    }
  });

  test("a lasting failure writes few warnings", { skip: onlyDeep }, async () => {
    await open(1);
    const intent = await road.create();
    await road.pay(intent, 10_000n);
    const address = road.world.chains.get(road.chain.caip2)?.sender.payer as `0x${string}`;
    await road.chain.client.setBalance({ address, value: 0n });
    lines = [];
    for (let ticks = 0; ticks < 60; ticks += 1) await check();
    const warnings = lines.filter(({ level }) => level === 40);
    assert.ok(warnings.length <= 8, `${warnings.length} warnings in five minutes`);
    assert.equal(lines.filter(({ alarm, level }) => alarm === "gas_empty" && level === 50).length, 1);
  });

  test("a check that fails has an alarm of its own, and the others go on", async () => {
    await open(1);
    const renameTable = (from: string, to: string) =>
      sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(road.world.db.root);
    await renameTable("api_key", "api_key_away");
    const raised = await check();
    assert.ok(raised.includes("check_failed"), raised.join());
    assert.ok(!raised.includes("database_unavailable"), "the database answers");
    const failed = activeAlarms(road.world).find(({ alarm }) => alarm === "check_failed");
    assert.equal(failed?.subject, "rows");
    assert.match(String(failed?.facts["reason"]), /api_key/);
    await renameTable("api_key_away", "api_key");
    await overAfter("check_failed");
    assertLoggedOnce("check_failed");
  });
});
