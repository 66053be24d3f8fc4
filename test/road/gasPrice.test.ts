import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { pino } from "pino";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { openFaultyRpcProxy, type AlterReply, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
import { openRoad, type Road, type RoadOptions } from "../support/road.ts";

const GWEI = 1_000_000_000n;
const CEILING = 50n * GWEI;
const FALSE_TIP = 3_000n * GWEI;

type LogLine = { level: number; msg: string; alarm?: string; priceGwei?: string; maxFeePerGasGwei?: string };

/** A provider that reports a tip which nobody pays. */
const reportFalseTip: AlterReply = ({ method }, answer) =>
  method === "eth_maxPriorityFeePerGas" ? toHex(FALSE_TIP) : answer;

/** The same provider, which also reports that recent blocks paid it. */
const reportFalseHistory: AlterReply = (request, answer, ask) => {
  if (request.method !== "eth_feeHistory") return reportFalseTip(request, answer, ask);
  const history = answer as { reward?: string[][] };
  return { ...history, reward: Array.from({ length: 10 }, () => [toHex(FALSE_TIP)]) };
};

describe("the price of gas", () => {
  let road: Road;
  let proxies: FaultyRpcProxy[] = [];
  let lines: LogLine[] = [];
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    now: () => addMs(systemClock.now(), aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });

  afterEach(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await road.close();
    [proxies, lines, aheadMs] = [[], [], 0];
  });

  async function open({ faults = [], ...options }: RoadOptions & { faults?: (AlterReply | undefined)[] } = {}) {
    road = await openRoad({
      clock,
      log,
      chain: { maxFeePerGas: CEILING },
      ...(faults.length === 0
        ? {}
        : {
            rpcUrls: async (chain) => {
              proxies = await Promise.all(faults.map(() => openFaultyRpcProxy(chain.rpcUrl)));
              return proxies.map((proxy) => proxy.url);
            },
          }),
      ...options,
    });
    faults.forEach((fault, index) => Object.assign(proxies[index] ?? {}, { alterReply: fault }));
  }
  /** Sets the base fee of the next block. */
  const setBaseFee = (gwei: bigint) => road.chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei * GWEI });
  const attempts = () => road.world.db.root.selectFrom("outgoing_attempt").selectAll().orderBy("attempt").execute();
  const alarms = () => lines.filter(({ alarm }) => alarm === "gas_price_above_ceiling");
  async function assertLanded(intent: { id: string }): Promise<void> {
    assert.equal((await road.settlements(intent)).at(-1)?.status, "landed");
    for (const { max_fee_per_gas: fee, max_priority_fee_per_gas: tip } of await attempts())
      assert.ok((fee ?? 0n) <= CEILING && (tip ?? 0n) <= CEILING, `${fee} and ${tip} wei were signed`);
  }

  test("a settlement waits above the ceiling with one alarm, and goes on when the price falls", async () => {
    await open();
    const intent = await road.create();
    await road.pay(intent, 10_000n);
    await setBaseFee(100n);
    for (let ticks = 0; ticks < 4; ticks += 1) await road.tick();
    assert.deepEqual(await attempts(), []);
    assert.equal((await road.settlements(intent))[0]?.status, "planned");
    assert.deepEqual(
      alarms().map(({ level, priceGwei, maxFeePerGasGwei }) => [level, priceGwei, maxFeePerGasGwei]),
      [[50, "101", "50"]],
    );
    await setBaseFee(20n);
    await road.settle();
    await assertLanded(intent);
    assert.equal(alarms().length, 1);
    assert.ok(lines.some(({ msg }) => msg === "the gas price is below the ceiling again"));
    const [first] = await attempts();
    assert.equal(first?.max_fee_per_gas, 41n * GWEI);
  });

  test("a replacement stays within the ceiling, and the old bytes are mined when the price falls", async () => {
    await open();
    const intent = await road.create();
    await road.pay(intent, 10_000n);
    await setBaseFee(15n);
    await road.chain.client.setAutomine(false);
    for (let ticks = 0; ticks < 4; ticks += 1) await road.tick();
    assert.equal((await attempts()).length, 1);
    for (let minutes = 0; minutes < 40; minutes += 1) {
      aheadMs += 61_000;
      await road.tick();
    }
    assert.ok((await attempts()).length > 1);
    const before = (await attempts()).length;
    await setBaseFee(400n);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      aheadMs += 61_000;
      await road.tick();
    }
    assert.equal((await attempts()).length, before);
    assert.equal(alarms().length, 1);
    await setBaseFee(10n);
    await road.chain.client.setAutomine(true);
    await road.chain.mine(1);
    await road.settle();
    await assertLanded(intent);
  });

  test("a false tip of the only provider is reduced to what recent blocks paid", async () => {
    await open({ faults: [reportFalseTip] });
    const intent = await road.create();
    await road.pay(intent, 10_000n);
    await road.settle();
    await assertLanded(intent);
    assert.deepEqual(
      (await attempts()).map(({ max_priority_fee_per_gas: tip }) => tip),
      [3n * GWEI],
    );
  });

  test("a false tip with a false history of the only provider is not signed", async () => {
    await open({ faults: [reportFalseHistory] });
    const intent = await road.create();
    await road.pay(intent, 10_000n);
    for (let ticks = 0; ticks < 4; ticks += 1) await road.tick();
    assert.deepEqual(await attempts(), []);
    assert.equal(alarms().length, 1);
    Object.assign(proxies[0] ?? {}, { alterReply: undefined });
    await road.settle();
    await assertLanded(intent);
  });

  for (const count of [2, 3]) {
    test(`a false quote of one of ${count} providers changes no fee`, async () => {
      await open({ faults: [reportFalseHistory, undefined, undefined].slice(0, count) });
      const intent = await road.create();
      await road.pay(intent, 10_000n);
      await road.settle();
      await assertLanded(intent);
      const [first] = await attempts();
      assert.ok((first?.max_priority_fee_per_gas ?? FALSE_TIP) <= GWEI);
      assert.deepEqual(alarms(), []);
    });
  }
});

function toHex(number: bigint): string {
  return `0x${number.toString(16)}`;
}
