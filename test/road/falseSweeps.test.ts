import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listEventTypesOf } from "../support/events.ts";
import { pino } from "pino";
import { encodeFunctionData, pad, type Hex } from "viem";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { checkRows } from "../../src/alarm/checkRows.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { openFaultyRpcProxy, type AlterReply, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import { openRoad, type Road } from "../support/road.ts";

// The first of three providers shows the transfers of one inbox as those of another. Transaction, place and amount are
// real.

const USDC = 1_000_000n;

for (const { setting, abovePriceUnits } of [
  { setting: "above the limit of a single provider", abovePriceUnits: 0n },
  { setting: "below the limit of a single provider", abovePriceUnits: 1_000_000n * USDC },
])
  describe(`false sweeps ${setting}`, () => {
    const isLimited = abovePriceUnits === 0n;
    let road: Road;
    let proxies: FaultyRpcProxy[];
    let aheadMs = 0;
    const lines: { alarm?: string; intent?: string }[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line) as object) });
    const clock = {
      ...systemClock,
      now: () => addMs(systemClock.now(), aheadMs),
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    };

    before(async () => {
      road = await openRoad({
        clock,
        log,
        chain: { agreement: { providers: 2, abovePriceUnits }, settleAfterMs: 10_000_000 },
        rpcUrls: async (chain) => {
          proxies = await Promise.all(Array.from({ length: 3 }, () => openFaultyRpcProxy(chain.rpcUrl)));
          return proxies.map((proxy) => proxy.url);
        },
      });
      await road.tick();
    });
    after(async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await road.close();
    });

    /** The first provider shows everything that moves to or from `real` as if it moved to or from `shown`. */
    function showAs(real: IntentRow, shown: IntentRow): void {
      const [liar] = proxies;
      const [from, to] = [real, shown].map(({ inbox_address: inbox }) => pad(inbox as Hex).slice(2));
      const swap = (text: string, one = "", other = "") => text.replaceAll(one, other);
      const fault: AlterReply = async ({ method, params }, answer, ask) => {
        if (!["eth_getLogs", "eth_getTransactionReceipt", "eth_getBlockReceipts"].includes(method)) return answer;
        const asked = JSON.stringify(params);
        const own = asked.includes(to ?? "")
          ? await ask(method, JSON.parse(swap(asked, to, from)) as unknown[])
          : answer;
        return JSON.parse(swap(JSON.stringify(own), from, to)) as unknown;
      };
      if (liar !== undefined) liar.alterReply = fault;
    }
    async function recover(): Promise<void> {
      for (const proxy of proxies) proxy.alterReply = undefined;
      // A provider that was outvoted is asked last for ten minutes.
      for (let turn = 0; turn < 2; turn += 1) {
        await road.chain.mine(1);
        await advance(1, 700_000);
      }
    }
    async function advance(turns: number, stepMs = 5_000): Promise<void> {
      for (let turn = 0; turn < turns; turn += 1) {
        aheadMs += stepMs;
        await road.tick();
      }
    }
    /** A stranger calls the hub. */
    async function settleByStranger(intent: IntentRow): Promise<void> {
      const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [toInboxTerms(intent)] });
      await road.chain.send(DEV_ACCOUNTS.payer, [{ to: road.chain.hub, data, gasLimit: 4_000_000n }]);
    }
    async function stateOf(intent: IntentRow) {
      const { counted_units: counted, settled_units: settled } = await road.intent(intent);
      const settlements = (await road.settlements(intent)).map(({ status }) => status);
      return { counted, settled, settlements };
    }
    const hasAlarm = (name: string, { id }: IntentRow) =>
      lines.some(({ alarm, intent }) => alarm === name && intent === id);
    const sweepsNotShown = async () =>
      (await checkRows(road.world)).flatMap(({ alarm, facts }) =>
        alarm === "sweep_not_shown" ? [facts["settlements"], facts["intent"]] : [],
      );
    const eventsOf = ({ id }: IntentRow) => listEventTypesOf(road.world.db, id);

    test("a sweep that another inbox made settles nothing for good", async () => {
      const [paid, other] = [await road.create(), await road.create()];
      await road.pay(paid, 2n * USDC);
      await road.tick();
      assert.equal((await stateOf(paid)).counted, 2n * USDC);
      showAs(paid, other);
      await settleByStranger(paid);
      await road.tick();
      const shown = await stateOf(other);
      assert.equal(shown.settled, isLimited ? 0n : 2n * USDC, "within the limit one provider suffices at first");
      await advance(4);
      await road.chain.finalize();
      await advance(10, 20_000);
      assert.deepEqual(await stateOf(paid), { counted: 2n * USDC, settled: 2n * USDC, settlements: ["landed"] });
      const taken = await stateOf(other);
      assert.deepEqual([taken.counted, taken.settled], [0n, 0n]);
      assert.deepEqual(taken.settlements, isLimited ? [] : ["failed"]);
      assert.deepEqual([hasAlarm("sweep_denied", other), hasAlarm("sweep_denied", paid)], [true, false]);
      const landed = (await eventsOf(other)).filter((type) => type.startsWith("settlement."));
      assert.deepEqual(landed, isLimited ? [] : ["settlement.landed", "settlement.failed"]);
      await recover();
    });

    test("a settlement stays submitted until enough providers show its sweep", async () => {
      const intent = await road.create();
      await road.pay(intent, 5n * USDC);
      await advance(2);
      await advance(1, 11_000_000);
      assert.deepEqual((await stateOf(intent)).settlements, ["submitted"]);
      for (const other of proxies.slice(1)) other.isDown = true;
      await advance(6);
      const waiting = { counted: 5n * USDC, settled: 0n, settlements: ["submitted"] };
      const landed = { counted: 5n * USDC, settled: 5n * USDC, settlements: ["landed"] };
      assert.deepEqual(await stateOf(intent), isLimited ? waiting : landed);
      assert.deepEqual(await sweepsNotShown(), []);
      await road.chain.finalize();
      await advance(6, 700_000);
      assert.deepEqual(await stateOf(intent), isLimited ? waiting : landed);
      assert.equal(hasAlarm("sweep_unconfirmed", intent), isLimited);
      assert.deepEqual(await sweepsNotShown(), isLimited ? [1, intent.id] : []);
      for (const other of proxies) other.isDown = false;
      await advance(4, 60_000);
      assert.deepEqual(await stateOf(intent), landed);
      assert.deepEqual(await sweepsNotShown(), []);
      assert.deepEqual(
        (await eventsOf(intent)).filter((type) => type.startsWith("settlement.")),
        ["settlement.submitted", "settlement.landed"],
      );
      await recover();
    });

    test("a payment and a sweep of another inbox do not make an intent paid for good", async () => {
      const input = { priceUnits: 3_000_000, oneTime: true };
      const [paid, other] = [
        await road.create(input),
        await road.create({ ...input, payoutWallet: DEV_ACCOUNTS.payoutSecond.address }),
      ];
      showAs(paid, other);
      await road.pay(paid, 3n * USDC);
      await road.tick();
      await settleByStranger(paid);
      await advance(2);
      assert.equal((await road.intent(other)).status, isLimited ? "active" : "settled");
      await road.chain.finalize();
      await advance(12, 20_000);
      const taken = await stateOf(other);
      assert.deepEqual([taken.counted, taken.settled], [0n, 0n]);
      assert.equal((await road.intent(other)).status, "active");
      assert.deepEqual(await stateOf(paid), { counted: 3n * USDC, settled: 3n * USDC, settlements: ["landed"] });
      const events = await eventsOf(other);
      assert.deepEqual(events.filter((type) => type === "settlement.landed").length, isLimited ? 0 : 1);
      await recover();
    });
  });
