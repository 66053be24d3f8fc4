import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { numberToHex, pad } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { openFaultyRpcProxy, type FaultyRpcProxy, type AlterReply } from "../support/faultyRpcProxy.ts";
import { openRoad, type Road } from "../support/road.ts";

const USDC = 1_000_000n;
const PROVIDERS = 3;
/** The provider does not know the newest block yet. */
const oneBlockBehind: AlterReply = async ({ method, params }, answer, ask) => {
  const top = BigInt(String(await ask("eth_blockNumber", []))) - 1n;
  if (method === "eth_getBlockByNumber" && params[0] === "latest") return ask(method, [numberToHex(top), false]);
  const at = method === "eth_getBlockByNumber" ? params[0] : method === "eth_call" ? params[1] : undefined;
  return typeof at === "string" && at.startsWith("0x") && BigInt(at) > top ? null : answer;
};
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

describe("faulty providers", () => {
  let road: Road;
  let proxies: FaultyRpcProxy[];
  let aheadMs = 0;
  const alarms: string[] = [];
  const clock = {
    ...systemClock,
    now: () => addMs(systemClock.now(), aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const log = pino(
    { level: "error" },
    { write: (line: string) => recordAlarm(JSON.parse(line) as { alarm?: string }) },
  );
  const recordAlarm = ({ alarm }: { alarm?: string }) => void (alarm === undefined || alarms.push(alarm));

  before(async () => {
    road = await openRoad({
      clock,
      log,
      chain: { agreement: { providers: 2, abovePriceUnits: 0n }, settleAfterMs: 60_000 },
      rpcUrls: async (chain) => {
        proxies = await Promise.all(Array.from({ length: PROVIDERS }, () => openFaultyRpcProxy(chain.rpcUrl)));
        return proxies.map((proxy) => proxy.url);
      },
    });
    await road.tick();
  });
  after(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await road.close();
  });

  /** Advances the clock and runs the road once per turn. */
  async function advance(turns: number, stepMs = 5_000): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) {
      aheadMs += stepMs;
      await road.tick();
    }
  }
  /** Alters the first provider's replies and takes the given number of others down. */
  function breakProviders(fault: AlterReply, downCount = PROVIDERS - 1): void {
    alarms.length = 0;
    const [proxy, ...others] = proxies;
    if (proxy) proxy.alterReply = fault;
    others.slice(0, downCount).forEach((other) => (other.isDown = true));
  }
  function recover(): void {
    for (const proxy of proxies) Object.assign(proxy, { alterReply: undefined, isDown: false });
  }
  async function stateOf(intent: IntentRow) {
    const [now, deposits, settlements] = await Promise.all([
      road.intent(intent),
      road.deposits(intent),
      road.settlements(intent),
    ]);
    return {
      counted: now.counted_units,
      settled: now.settled_units,
      deposits: deposits.map(({ status, reason }) => (reason === null ? status : `${status} ${reason}`)),
      settlements: settlements.map(({ status }) => status),
    };
  }
  const sendings = async () =>
    (await road.world.db.root.selectFrom("outgoing_transaction").select("id").execute()).length;

  /** Forges a transfer into an inbox, as a log and as a receipt, in the first requested block. */
  function forgedDeposit(intent: IntentRow, amountUnits: bigint): AlterReply {
    const chainTx = `0x${"ab".repeat(32)}`;
    const place: { at?: unknown; log?: object } = {};
    return async ({ method, params }, answer, ask) => {
      if (method === "eth_getLogs" && Array.isArray(answer)) {
        const [filter] = params as [{ blockHash?: string }];
        if (filter.blockHash === undefined || (place.at !== undefined && place.at !== filter.blockHash)) return answer;
        const block = (await ask("eth_getBlockByHash", [filter.blockHash, false])) as { number: string } | null;
        if (block === null) return answer;
        place.at = filter.blockHash;
        place.log ??= {
          address: road.chain.usdc.address,
          topics: [TRANSFER, pad(DEV_ACCOUNTS.payer.address), pad(intent.inbox_address as `0x${string}`)],
          data: numberToHex(amountUnits, { size: 32 }),
          blockNumber: block.number,
          blockHash: filter.blockHash,
          transactionHash: chainTx,
          logIndex: "0x63",
        };
        return [...answer, place.log];
      }
      if (method === "eth_getTransactionReceipt" && params[0] === chainTx && place.log !== undefined) {
        const { blockNumber, blockHash } = place.log as { blockNumber: string; blockHash: string };
        return { transactionHash: chainTx, blockNumber, blockHash, status: "0x1", gasUsed: "0x1", logs: [place.log] };
      }
      return answer;
    };
  }

  test("a forged payment with the honest providers down is held with an alarm, and dropped when they recover", async () => {
    const intent = await road.create();
    breakProviders(forgedDeposit(intent, 500n * USDC));
    await road.chain.mine(1);
    await advance(8);
    assert.deepEqual(await stateOf(intent), {
      counted: 0n,
      settled: 0n,
      deposits: ["held provider_agreement_pending"],
      settlements: [],
    });
    assert.ok(alarms.includes("provider_agreement_pending"));
    assert.equal(await sendings(), 0);
    recover();
    await road.chain.mine(1);
    await advance(20, 20_000);
    assert.deepEqual((await stateOf(intent)).deposits, ["dropped reorg"]);
    assert.equal(await sendings(), 0);
  });

  test("a forged payment that honest providers deny is dropped uncounted", async () => {
    const intent = await road.create();
    await road.chain.mine(1);
    await road.tick();
    breakProviders(forgedDeposit(intent, 500n * USDC), 0);
    await road.chain.mine(1);
    await advance(6);
    await advance(6, 20_000);
    assert.deepEqual(await stateOf(intent), { counted: 0n, settled: 0n, deposits: ["dropped reorg"], settlements: [] });
    assert.ok(alarms.includes("provider_disagreement"));
    recover();
  });

  test("an altered amount is never counted; the true amount counts once after recovery", async () => {
    const intent = await road.create();
    breakProviders(({ method }, answer) => {
      if (method !== "eth_getLogs" || !Array.isArray(answer)) return answer;
      return (answer as { data: string }[]).map((each) => ({
        ...each,
        data: numberToHex(9_000n * USDC, { size: 32 }),
      }));
    });
    await road.pay(intent, 5n * USDC);
    await advance(8);
    const held = await stateOf(intent);
    assert.deepEqual([held.counted, held.deposits], [0n, ["held provider_agreement_pending"]]);
    recover();
    await road.chain.finalize();
    await advance(20, 20_000);
    const healed = await stateOf(intent);
    assert.deepEqual([healed.counted, healed.settled, healed.settlements], [5n * USDC, 5n * USDC, ["landed"]]);
  });

  test("a payment that a provider hides is found by the second read and counts once", async () => {
    const intent = await road.create();
    breakProviders(({ method }, answer) => (method === "eth_getLogs" ? [] : answer));
    await road.pay(intent, 7n * USDC);
    await advance(3);
    assert.deepEqual((await stateOf(intent)).deposits, []);
    for (const other of proxies.slice(1)) other.isDown = false;
    await road.chain.finalize();
    for (let round = 0; round < 3; round += 1) {
      await road.chain.finalize();
      await advance(6, 20_000);
    }
    const found = await stateOf(intent);
    assert.deepEqual([found.counted, found.settled, found.settlements], [7n * USDC, 7n * USDC, ["landed"]]);
    recover();
  });

  test("a provider with false reverts and gas prices neither stops a sweep nor raises its fee", async () => {
    const intent = await road.create();
    await road.pay(intent, 2n * USDC);
    await road.tick();
    breakProviders(({ method, params }, answer) => {
      if (method === "eth_estimateGas") return "0x";
      if (method === "eth_maxPriorityFeePerGas") return numberToHex(10n ** 15n);
      const [call] = params as [{ to?: string }?];
      return method === "eth_call" && call?.to !== road.chain.usdc.address ? "0x" : answer;
    }, 0);
    await advance(20, 20_000);
    const settled = await stateOf(intent);
    assert.deepEqual([settled.settled, settled.settlements], [2n * USDC, ["landed"]]);
    const attempt = await road.world.db.root
      .selectFrom("outgoing_attempt")
      .select("max_priority_fee_per_gas")
      .orderBy("outgoing_id", "desc")
      .executeTakeFirstOrThrow();
    assert.ok((attempt.max_priority_fee_per_gas ?? 0n) < 10n ** 12n);
    recover();
  });

  test("a payment settles without an alarm when all providers but one are a block behind", async () => {
    for (const other of proxies.slice(1)) other.alterReply = oneBlockBehind;
    const intent = await road.create();
    await road.pay(intent, 3n * USDC);
    for (let turn = 0; turn < 20; turn += 1) {
      await road.chain.mine(1);
      await advance(1, 10_000);
    }
    const settled = await stateOf(intent);
    assert.deepEqual([settled.settled, settled.settlements], [3n * USDC, ["landed"]]);
    assert.deepEqual(
      (await road.settlements(intent)).map(({ attempts }) => attempts),
      [0],
    );
    recover();
  });

  test("a payment is held while only one provider is up, and settles once with the others", async () => {
    const intent = await road.create();
    await road.pay(intent, 3n * USDC);
    await road.tick();
    assert.deepEqual((await stateOf(intent)).deposits, ["counted"]);
    const before = await sendings();
    for (const other of proxies.slice(1)) other.isDown = true;
    await advance(10, 30_000);
    assert.deepEqual((await stateOf(intent)).settlements, ["held"]);
    assert.equal(await sendings(), before);
    recover();
    await advance(4, 3_600_000);
    const settled = await stateOf(intent);
    assert.deepEqual([settled.settled, settled.settlements], [3n * USDC, ["landed"]]);
  });
});
