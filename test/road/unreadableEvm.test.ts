import { deepEqual, equal, ok } from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import type { Hex } from "viem";
import type { Clock } from "../../src/kernel/clock.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { findCursor } from "../../src/watch/store/store.ts";
import { registerView } from "../../src/view/registerView.ts";
import { rescanIntent } from "../../src/watch/reread/rescan.ts";
import { scanHintedInboxes } from "../../src/watch/reread/scanHintedInboxes.ts";
import { retryUnreadable } from "../../src/watch/unreadable/retryUnreadable.ts";
import { openFaultyRpcProxy, type AlterReply, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
import { openRoad, type Road } from "../support/road.ts";
import { transferFromAddress } from "../support/watcher.ts";

// What no reader can parse stands inside a block: both providers give the same receipt or log, and the block goes on
// without it.

const HOUR_MS = 3_600_000;

describe("an entry of a block that cannot be parsed", () => {
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
      rpcUrls: async ({ rpcUrl }) => {
        proxies = await Promise.all([openFaultyRpcProxy(rpcUrl), openFaultyRpcProxy(rpcUrl)]);
        // Two hosts, as two operators have them.
        return proxies.map(({ url }, index) => (index === 0 ? url : url.replace("127.0.0.1", "localhost")));
      },
    });
  }
  afterEach(async () => {
    for (const proxy of proxies) await proxy.close();
    await road.close();
    aheadMs = 0;
  });
  function alter(alterReply: AlterReply | undefined, [first, second] = [true, true]): void {
    const [one, other] = proxies;
    if (one && first) one.alterReply = alterReply;
    if (other && second) other.alterReply = alterReply;
  }
  const rows = () =>
    road.world.db.root.selectFrom("unreadable").select(["kind", "chain_tx", "inboxes"]).orderBy("subject").execute();
  const amounts = async (intent: { id: string }) =>
    (await road.deposits(intent)).map(({ amount_units }) => Number(amount_units)).toSorted((one, other) => one - other);

  /** Changes the receipt, or the logs, of one transaction. */
  const receiptWithoutStatus =
    (chainTx: string): AlterReply =>
    ({ method, params }, answer) =>
      method === "eth_getTransactionReceipt" && params[0] === chainTx
        ? { ...(answer as object), status: "a later form" }
        : answer;
  const logsWithout =
    (...fields: readonly string[]) =>
    (chainTx: string): AlterReply =>
    ({ method }, answer) =>
      method === "eth_getLogs"
        ? (answer as { transactionHash: string }[]).map((log) =>
            log.transactionHash === chainTx
              ? { ...log, ...Object.fromEntries(fields.map((field) => [field, { later: "form" }])) }
              : log,
          )
        : answer;

  for (const [what, changed, kind] of [
    ["a receipt", receiptWithoutStatus, "transaction"],
    ["a log", logsWithout("logIndex"), "log"],
    ["a log without its block", logsWithout("blockHash"), "log"],
    ["a log without a number of its block", logsWithout("blockNumber"), "log"],
    ["a log without its contract", logsWithout("address"), "log"],
    ["a log without its transaction", logsWithout("transactionHash"), "log"],
    ["a log that tells nothing of its place", logsWithout("blockHash", "blockNumber", "transactionHash"), "log"],
  ] as const)
    test(`${what} that both providers give alike is a row, and the payments beside it count`, async () => {
      await open();
      const intent = await road.create();
      const odd = await road.pay(intent, 11n);
      await road.pay(intent, 22n);
      alter(changed(odd));
      for (let ticks = 0; ticks < 4; ticks += 1) await road.tick();
      const named = what.includes("transaction") || what.includes("place") ? null : odd;
      deepEqual(await rows(), [{ kind, chain_tx: named, inboxes: [intent.inbox_address] }]);
      deepEqual(await amounts(intent), [22]);
      const cursor = await findCursor(road.world.db, road.chain.caip2);
      ok(
        (cursor?.number ?? 0n) >= (await road.chain.client.getBlockNumber({ cacheTime: 0 })) - 2n,
        "the chain goes on",
      );
      alter(undefined);
      aheadMs += HOUR_MS;
      const chain = road.world.chains.get(road.chain.caip2);
      ok(chain);
      await retryUnreadable(road.world, chain);
      for (let ticks = 0; ticks < 2; ticks += 1) await road.tick();
      deepEqual(await rows(), [], "it was parsed at the next try");
      deepEqual(await amounts(intent), [11, 22]);
    });

  test("a log of which nothing tells the block is found in a long range, and stops no reading of one", async () => {
    await open();
    const intent = await road.create();
    await road.pay(intent, 5n);
    const odd = await road.pay(intent, 11n);
    await road.pay(intent, 22n);
    alter(logsWithout("blockNumber", "blockHash", "transactionHash")(odd));
    // More blocks than those near the head, as after an outage.
    await road.chain.mine(40);
    const chain = road.world.chains.get(road.chain.caip2);
    ok(chain);
    for (let ticks = 0; ticks < 3; ticks += 1) await road.tick();
    const { number = 0n, reread_number: rereadNumber = 0n } = (await findCursor(road.world.db, chain.caip2)) ?? {};
    const head = await road.chain.client.getBlockNumber({ cacheTime: 0 });
    equal(number, head, "the range was read at once");
    deepEqual(
      [(await rows()).map(({ inboxes }) => inboxes), await amounts(intent)],
      [[[intent.inbox_address]], [5, 22]],
    );
    await rescanIntent(road.world, intent.id);
    await registerView(road.world, intent);
    await scanHintedInboxes(road.world, chain);
    await road.tick();
    ok(rereadNumber > 0n, "final blocks were read a second time");
    deepEqual([...chain.providers.failureCounts], [], "nobody's fault");
    alter(undefined);
    aheadMs += HOUR_MS;
    await retryUnreadable(road.world, chain);
    for (let ticks = 0; ticks < 2; ticks += 1) await road.tick();
    deepEqual([await rows(), await amounts(intent)], [[], [5, 11, 22]]);
  });

  test("what a sweep left is not settled while a row names its inbox, and its deposits are", async () => {
    await open();
    const intent = await road.create();
    const inbox = intent.inbox_address as Hex;
    const { usdc } = road.chain;
    const out = { token: usdc.address, to: intent.payout_wallet as Hex };
    // Its contract stands from its first settlement on.
    await road.pay(intent, 1n);
    await road.settle();
    await road.pay(intent, 100n);
    await transferFromAddress(road.chain, inbox, { ...out, amountUnits: 40n });
    // The other 60 leave in a transaction whose log nobody reads.
    const number = await road.chain.client.getBlockNumber({ cacheTime: 0 });
    await transferFromAddress(road.chain, inbox, { ...out, amountUnits: 60n });
    const logs = await road.chain.client.getLogs({ address: usdc.address, fromBlock: number + 1n });
    const odd = logs.at(-1)?.transactionHash ?? "";
    alter(logsWithout("logIndex")(odd));
    for (let ticks = 0; ticks < 6; ticks += 1) await road.tick();
    equal((await rows()).length, 1);
    const landed = (units: bigint) => ({ status: "landed", gross_units: units });
    const settlements = async () =>
      (await road.settlements(intent)).map(({ status, gross_units }) => ({ status, gross_units }));
    deepEqual(await settlements(), [landed(1n), landed(40n)], "60 units are recorded that are not there");
    await road.pay(intent, 7n);
    for (let ticks = 0; ticks < 6; ticks += 1) await road.tick();
    equal((await rows()).length, 1);
    deepEqual(await settlements(), [landed(1n), landed(40n), landed(7n)]);
    equal(await road.balance(inbox), 0n);
    alter(undefined);
    aheadMs += HOUR_MS;
    const chain = road.world.chains.get(road.chain.caip2);
    ok(chain);
    await retryUnreadable(road.world, chain);
    for (let ticks = 0; ticks < 3; ticks += 1) await road.tick();
    deepEqual(await rows(), []);
    const all = await settlements();
    ok(
      all.every(({ status }) => status === "landed"),
      JSON.stringify(all, (_, value) => String(value)),
    );
    equal(
      all.reduce((sum, { gross_units }) => sum + (gross_units ?? 0n), 0n),
      108n,
    );
  });

  test("one provider is enough once the other has been silent for a minute", async () => {
    await open();
    const intent = await road.create();
    const odd = await road.pay(intent, 11n);
    await road.pay(intent, 22n);
    const [, second] = proxies;
    ok(second);
    alter(receiptWithoutStatus(odd), [true, false]);
    second.isDown = true;
    // Nothing else can be read until then either: the loops retry.
    for (let ticks = 0; ticks < 3; ticks += 1) await road.tick().catch(() => undefined);
    deepEqual(await rows(), [], "it may be a fault of this provider alone");
    aheadMs += 61_000;
    for (let ticks = 0; ticks < 4; ticks += 1) await road.tick();
    deepEqual(await rows(), [{ kind: "transaction", chain_tx: odd, inboxes: [intent.inbox_address] }]);
    deepEqual(await amounts(intent), [22]);
    second.isDown = false;
    aheadMs += 301_000;
    const chain = road.world.chains.get(road.chain.caip2);
    ok(chain);
    await retryUnreadable(road.world, chain);
    await road.tick();
    deepEqual(await amounts(intent), [11, 22], "the other one can read it");
  });

  test("what both can read again after a minute is recorded then, although its block was passed", async () => {
    await open();
    const intent = await road.create();
    const odd = await road.pay(intent, 11n);
    await road.pay(intent, 22n);
    alter(receiptWithoutStatus(odd));
    for (let ticks = 0; ticks < 4; ticks += 1) await road.tick();
    equal((await rows()).length, 1);
    alter(undefined);
    aheadMs += 61_000;
    const chain = road.world.chains.get(road.chain.caip2);
    ok(chain);
    await retryUnreadable(road.world, chain);
    await road.tick();
    deepEqual([await rows(), await amounts(intent)], [[], [11, 22]]);
  });

  test("a receipt that one provider gives and the other does not is asked of the other", async () => {
    await open();
    const intent = await road.create();
    const odd = await road.pay(intent, 11n);
    alter(receiptWithoutStatus(odd), [true, false]);
    for (let ticks = 0; ticks < 4; ticks += 1) await road.tick();
    equal((await rows()).length, 0);
    deepEqual(await amounts(intent), [11]);
  });
});
