import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { encodeFunctionData, pad, parseAbi, type Hex } from "viem";
import { findBurns } from "../../src/bridge/findBurns.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { openFaultyRpcProxy, type AlterReply, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";

// Which transfers a bridge moved is in the receipts of their transactions alone. The first provider's receipts are
// wrong; its lists of transfers, blocks and balances are right.

const USDC = 1_000_000n;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LIMIT_UNITS = 1_000_000n * USDC;

const { payer } = DEV_ACCOUNTS;
const bridgeAbi = parseAbi([
  "function approve(address spender, uint256 units)",
  "function depositForBurn(uint256 amount, uint32 domain, bytes32 recipient, address token, bytes32 caller, uint256 maxFee, uint32 threshold)",
  "function receiveMessage(bytes message, bytes attestation)",
]);

type Log = { address: Hex; topics: Hex[]; data: Hex };
type Receipt = { logs: Log[] } | null;

function changeReceipts(change: (logs: Log[]) => Log[]): AlterReply {
  const changed = (receipt: Receipt) => receipt && { ...receipt, logs: change(receipt.logs) };
  return ({ method }, answer) => {
    if (method === "eth_getTransactionReceipt") return changed(answer as Receipt);
    if (method === "eth_getBlockReceipts") return (answer as Receipt[] | null)?.map(changed) ?? null;
    return answer;
  };
}

for (const { setting, count } of [
  { setting: "one provider, whose receipts are right later", count: 1 },
  { setting: "the first of three providers, whose receipts stay wrong", count: 3 },
])
  describe(`wrong receipts of ${setting}`, () => {
    let road: BridgedRoad;
    let home: TestChain;
    let away: TestChain;
    const liars = new Map<string, FaultyRpcProxy>();
    const proxies: FaultyRpcProxy[] = [];
    before(async () => {
      ({ road, home, away } = await openBridgedPair({
        rpcUrlsOf: async (chain) => {
          const opened = await Promise.all(Array.from({ length: count }, () => openFaultyRpcProxy(chain.rpcUrl)));
          proxies.push(...opened);
          const [liar] = opened;
          assert.ok(liar);
          liars.set(chain.caip2, liar);
          return opened.map(({ url }) => url);
        },
        agreement: count > 1 ? { providers: 2, abovePriceUnits: LIMIT_UNITS } : undefined,
      }));
    });
    after(async () => {
      await road.close();
      await Promise.all(proxies.map((proxy) => proxy.close()));
    });

    const bridgeOf = (chain: TestChain) => {
      const side = road.sides.find(({ chainId }) => chainId === chain.chainId);
      assert.ok(side);
      return side.bridge;
    };
    function lie(chain: TestChain, change: (logs: Log[]) => Log[]): void {
      const liar = liars.get(chain.caip2);
      assert.ok(liar);
      liar.alterReply = changeReceipts(change);
    }
    /** Until final blocks were read a second time. */
    async function becomeFinal(chain: TestChain): Promise<void> {
      const liar = liars.get(chain.caip2);
      if (liar && count === 1) liar.alterReply = undefined;
      await chain.finalize();
      for (let rounds = 0; rounds < 3; rounds += 1) await road.tick();
      if (liar) liar.alterReply = undefined;
    }
    const movements = ({ id }: IntentRow, chain: TestChain, direction: "in" | "out") =>
      road.db.root
        .selectFrom("movement")
        .selectAll()
        .where("intent_id", "=", id)
        .where("chain", "=", chain.caip2)
        .where("direction", "=", direction)
        .execute();
    const totals = async (intent: IntentRow) => {
      const { counted_units: counted, settled_units: settled, status } = await road.intent(intent);
      return { counted, settled, status };
    };
    const statuses = async (intent: IntentRow) =>
      (await road.settlements(intent)).map(({ chain, status, reason }) => [chain, status, reason]);
    const without = (address: Hex) => (logs: Log[]) =>
      logs.map((log) => (log.address.toLowerCase() === address ? { ...log, address: away.hub } : log));

    test("what a bridge gave without its receipt counts as a payment no longer than its block is not final", async () => {
      const intent = await road.create(home, { priceUnits: 35_000_000, oneTime: true });
      const before = await road.balances(home, intent);
      lie(home, without(bridgeOf(home).transmitter));
      await road.pay(away, intent, 20n * USDC);
      await road.until(async () => (await totals(intent)).counted > 20n * USDC);
      assert.equal((await totals(intent)).status, "settled", "as a payment it reaches the price");
      await becomeFinal(home);
      const [mint] = await movements(intent, home, "in");
      assert.ok(mint?.explained_by?.startsWith("cctp-v2/1/"));
      assert.deepEqual(await totals(intent), { counted: 20n * USDC, settled: 20n * USDC, status: "active" });
      await road.until(async () =>
        (await road.settlements(intent)).some(({ chain, status }) => chain === away.caip2 && status === "landed"),
      );
      assert.deepEqual(await statuses(intent), [
        [away.caip2, "landed", null],
        [home.caip2, "failed", "bridged"],
      ]);
      const { payout, fee, inbox } = await road.balances(home, intent);
      assert.deepEqual([payout - before.payout + fee - before.fee, inbox], [20n * USDC - 2_600n, 0n]);
    });

    test("what a bridge took is no loss", async () => {
      const intent = await road.create(home);
      lie(away, without(bridgeOf(away).messenger));
      await road.pay(away, intent, 20n * USDC);
      await road.until(async () => (await movements(intent, away, "out")).length > 0);
      const [burn] = await movements(intent, away, "out");
      assert.equal(burn?.explained_by, null);
      await becomeFinal(away);
      await road.untilLanded(intent);
      assert.deepEqual(await statuses(intent), [[away.caip2, "landed", null]]);
    });

    for (const [state, waitMs] of [
      ["", 0],
      [", also from suspense", HOUR_MS],
    ] as const)
      test(`a receipt that names the inbox as the one who burned hides no payment for good${state}`, async () => {
        const intent = await road.create(home);
        const before = await road.balances(home, intent);
        const { message, attestation } = await burnAsPayer(intent);
        const [burner, inbox] = [payer.address, intent.inbox_address].map((each) => each.slice(2).toLowerCase());
        const { transmitter } = bridgeOf(home);
        lie(home, (logs) =>
          logs.map((log) =>
            log.address.toLowerCase() === transmitter
              ? { ...log, data: log.data.replaceAll(burner ?? "", inbox ?? "") as Hex }
              : log,
          ),
        );
        const data = encodeFunctionData({
          abi: bridgeAbi,
          functionName: "receiveMessage",
          args: [message, attestation],
        });
        await home.send(DEV_ACCOUNTS.stranger, [{ to: transmitter, data }]);
        await road.tick();
        const [mint] = await movements(intent, home, "in");
        assert.ok(mint?.explained_by?.startsWith("cctp-v2/1/"));
        road.advance(waitMs);
        await road.tick();
        await road.tick();
        assert.equal((await road.settlements(intent)).length, waitMs > 0 ? 1 : 0);
        await becomeFinal(home);
        await road.untilLanded(intent);
        const units = 20n * USDC - 2_600n;
        assert.deepEqual(await totals(intent), { counted: units, settled: units, status: "active" });
        assert.deepEqual(await statuses(intent), [[home.caip2, "landed", null]]);
        const after = await road.balances(home, intent);
        assert.equal(after.payout - before.payout + after.fee - before.fee, units);
        road.advance(2 * MINUTE_MS);
        for (const chain of road.world.chains.values()) await findBurns(road.world, chain);
        assert.deepEqual(await awaited(), []);
      });

    const awaited = () => road.db.root.selectFrom("awaited_burn").selectAll().execute();

    async function burnAsPayer(intent: IntentRow): Promise<{ message: Hex; attestation: Hex }> {
      const { messenger } = bridgeOf(away);
      const to = pad(intent.inbox_address as Hex);
      const burn = [20n * USDC, 0, to, away.usdc.address, pad("0x"), 20_000n, 1_000] as const;
      const approval = [messenger, 20n * USDC] as const;
      const receipts = await away.send(payer, [
        {
          to: away.usdc.address,
          data: encodeFunctionData({ abi: bridgeAbi, functionName: "approve", args: approval }),
        },
        { to: messenger, data: encodeFunctionData({ abi: bridgeAbi, functionName: "depositForBurn", args: burn }) },
      ]);
      const path = `/v2/messages/1?transactionHash=${receipts.at(-1)?.transactionHash}`;
      const response = await fetch(`${road.attestation.url}${path}`);
      const { messages } = (await response.json()) as { messages: { message: Hex; attestation: Hex }[] };
      assert.ok(messages[0]);
      return messages[0];
    }
  });
