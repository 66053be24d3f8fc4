import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { encodeFunctionData, parseAbi } from "viem";
import { findBurns } from "../../src/bridge/findBurns.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { openFaultyRpcProxy, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
import { burnAsStranger, hide } from "../support/hiddenBurns.ts";

// A stranger bridges an inbox and receives for it, while the only provider of the payment's chain hides both. The money
// is in the inbox on its settle chain, where everything belongs to the payout.

const UNITS = 20_000_000n;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const transmitterAbi = parseAbi(["function receiveMessage(bytes message, bytes attestation)"]);

describe("money on the settle chain whose burn nobody knows", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  const proxies = new Map<number, FaultyRpcProxy>();
  const intents: IntentRow[] = [];
  before(async () => {
    road = await openBridgedRoad({
      chains: 2,
      rpcUrlsOf: async (chain) => {
        const proxy = await openFaultyRpcProxy(chain.rpcUrl);
        proxies.set(chain.chainId, proxy);
        return [proxy.url];
      },
    });
    const [first, second] = road.chains;
    assert.ok(first !== undefined && second !== undefined);
    [home, away] = [first, second];
    // Before the clock runs ahead of the chains: an inbox is searched down to the block before it existed.
    for (let count = 0; count < 2; count += 1) intents.push(await road.create(home));
  });
  after(async () => {
    await road.close();
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
  });

  async function receiveHidden(intent: IntentRow): Promise<void> {
    const proxy = proxies.get(away.chainId);
    assert.ok(proxy);
    proxy.alterReply = hide(intent);
    await road.pay(away, intent, UNITS);
    const { message, attestation } = await burnAsStranger(road, { home, away }, intent);
    const data = encodeFunctionData({ abi: transmitterAbi, args: [message, attestation] });
    await home.send(DEV_ACCOUNTS.stranger, [{ to: road.sides[0]?.bridge.transmitter ?? "0x", data }]);
    await road.until(
      async () => (await road.db.root.selectFrom("awaited_burn").select("mint_id").execute()).length > 0,
    );
    await home.finalize();
    await road.tick();
  }
  const searchBurns = async () => {
    for (const chain of road.world.chains.values()) await findBurns(road.world, chain);
  };
  const records = async (intent: IntentRow) =>
    (await road.settlements(intent)).map((row) => {
      const { status, grossUnits, routeCostUnits, feeUnits, netUnits, reason } = settlementRecord(row);
      return [row.chain, status, ...[grossUnits, routeCostUnits, feeUnits, netUnits].map(Number), reason];
    });
  /** What the ledger booked to an account for the inbox, without reversed postings. */
  async function bookedTo(intent: IntentRow, account: string): Promise<bigint> {
    const rows = await road.db.root
      .selectFrom("ledger_entry")
      .innerJoin("ledger_posting", "ledger_posting.id", "ledger_entry.posting_id")
      .select("amount_units")
      .where("custody", "=", `inbox:${intent.id}`)
      .where("account", "=", account)
      .execute();
    return rows.reduce((sum, { amount_units }) => sum + amount_units, 0n);
  }

  test("is settled after an hour, from suspense and towards no price, and the crossing takes its place once the burn is found", async () => {
    const [intent] = intents;
    assert.ok(intent);
    const before = (await road.balances(home, intent)).payout;
    await receiveHidden(intent);
    const minted = (await road.balances(home, intent)).inbox;
    road.advance(HOUR_MS / 2);
    await searchBurns();
    for (let rounds = 0; rounds < 3; rounds += 1) await road.tick();
    assert.deepEqual(await records(intent), [], "it may be found within an hour");
    road.advance(HOUR_MS / 2);
    await road.untilLanded(intent);
    const fee = (minted * 50n) / 10_000n;
    const own = [home.caip2, "landed", Number(minted), 0, Number(fee), Number(minted - fee), null];
    assert.deepEqual(await records(intent), [own]);
    const settled = await road.intent(intent);
    assert.deepEqual([settled.counted_units, settled.settled_units], [0n, minted]);
    assert.equal((await road.balances(home, intent)).payout - before, minted - fee);
    assert.equal(await bookedTo(intent, `suspense:${home.caip2}`), -minted);
    assert.equal(await bookedTo(intent, "bridge:cctp-v2"), 0n);

    const proxy = proxies.get(away.chainId);
    assert.ok(proxy);
    proxy.alterReply = undefined;
    road.advance(HOUR_MS);
    for (let step = 0; step < 5; step += 1) {
      await searchBurns();
      road.advance(MINUTE_MS);
    }
    await road.until(async () =>
      (await road.settlements(intent)).some(({ chain, status }) => chain === away.caip2 && status === "landed"),
    );
    const cost = UNITS - minted;
    assert.deepEqual(await records(intent), [
      [home.caip2, "failed", 0, 0, 0, 0, "bridged"],
      [away.caip2, "landed", Number(UNITS), Number(cost), Number(fee), Number(minted - fee), null],
    ]);
    const found = await road.intent(intent);
    assert.deepEqual([found.counted_units, found.settled_units, found.net_units], [UNITS, UNITS, minted - fee]);
    assert.equal(await bookedTo(intent, `suspense:${home.caip2}`), 0n);
  });

  test("leaves the suspense when its burn is found before the sweep", async () => {
    const [, intent] = intents;
    assert.ok(intent);
    await receiveHidden(intent);
    // No settlement is sent while the payout is blocked.
    await home.blocklist(home.usdc.address, intent.payout_wallet as `0x${string}`);
    road.advance(HOUR_MS);
    await road.until(async () => (await road.settlements(intent)).length === 1);
    const proxy = proxies.get(away.chainId);
    assert.ok(proxy);
    proxy.alterReply = undefined;
    road.advance(HOUR_MS);
    for (let step = 0; step < 5; step += 1) {
      await searchBurns();
      road.advance(MINUTE_MS);
    }
    await road.until(async () => (await bookedTo(intent, `suspense:${home.caip2}`)) === 0n);
    await home.unblocklist(home.usdc.address, intent.payout_wallet as `0x${string}`);
    road.advance(HOUR_MS);
    await road.until(async () =>
      (await road.settlements(intent)).some(({ chain, status }) => chain === away.caip2 && status === "landed"),
    );
    assert.deepEqual(
      (await records(intent)).map(([chain, status]) => [chain, status]),
      [
        [home.caip2, "failed"],
        [away.caip2, "landed"],
      ],
    );
    assert.equal((await road.balances(home, intent)).inbox, 0n);
  });
});
