import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { settleItemGas } from "@tributary/inbox/hubs";
import { sql } from "kysely";
import { encodeFunctionData } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { openSession } from "../../src/dashboard/session.ts";
import { buildServer } from "../../src/http/server.ts";
import { archiveIntent } from "../../src/intent/archiveIntent.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { READ_DASHBOARD } from "../../src/merchant/keys/scopes.ts";
import { updateSettlementDays } from "../../src/settlement/days/settlementDays.ts";
import { settleCall } from "../../src/chain/evm/send/settleCall.ts";
import { parseUnits } from "../../src/kernel/units.ts";
import { thoroughDatabases } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { openRoad, type Road } from "../support/road.ts";

const { payoutFirst, feeRecipient, stranger } = DEV_ACCOUNTS;

for (const database of thoroughDatabases) {
  describe(`the road on ${database}`, () => {
    let road: Road;
    before(async () => {
      road = await openRoad({ database });
    });
    after(() => road.close());

    /** Returns the balance gains of the payout and fee wallets during the work. */
    async function balanceGains(work: () => Promise<void>): Promise<[payout: bigint, fee: bigint]> {
      const before = [await road.balance(payoutFirst.address), await road.balance(feeRecipient.address)] as const;
      await work();
      return [
        (await road.balance(payoutFirst.address)) - before[0],
        (await road.balance(feeRecipient.address)) - before[1],
      ];
    }

    test("§1.1, D7 a payment of 25 USDC pays the merchant 24.875 and the platform 0.125, and empties the inbox", async () => {
      const intent = await road.create({ priceUnits: 25_000_000, oneTime: true });
      const gained = await balanceGains(async () => {
        await road.pay(intent, 25_000_000n);
        await road.settle();
      });
      assert.deepEqual(gained, [24_875_000n, 125_000n]);
      assert.equal(await road.balance(intent.inbox_address), 0n);
      const { status, counted_units, settled_units, fee_units, net_units } = await road.intent(intent);
      assert.deepEqual(
        [status, counted_units, settled_units, fee_units, net_units],
        ["settled", 25_000_000n, 25_000_000n, 125_000n, 24_875_000n],
      );
      const [settlement, ...others] = await road.settlements(intent);
      assert.deepEqual([settlement?.status, others], ["landed", []]);
      assert.deepEqual(
        (await road.deposits(intent)).map((deposit) => deposit.settlement_id),
        [settlement?.id],
      );
    });

    test("D3 a deposit to an archived intent is recorded, counted and paid out", async () => {
      const intent = await road.create({ priceUnits: 1_000_000, oneTime: true });
      await road.world.db.transaction((tx) => archiveIntent(tx, road.world, intent.id));
      const gained = await balanceGains(async () => {
        await road.pay(intent, 2_000_000n);
        await road.settle();
      });
      assert.deepEqual(gained, [1_990_000n, 10_000n]);
      const { status, counted_units, settled_units } = await road.intent(intent);
      assert.deepEqual([status, counted_units, settled_units], ["archived", 2_000_000n, 2_000_000n]);
      assert.deepEqual(
        (await road.deposits(intent)).map(({ status: state, late }) => [state, late]),
        [["counted", true]],
      );
    });

    test("D3 a late deposit goes to the same payout", async () => {
      const intent = await road.create({ priceUnits: 1_000_000, oneTime: true });
      await road.pay(intent, 1_000_000n);
      await road.settle();
      const gained = await balanceGains(async () => {
        await road.pay(intent, 2_000_000n);
        await road.settle();
      });
      assert.deepEqual(gained, [1_990_000n, 10_000n]);
      assert.deepEqual(
        (await road.deposits(intent)).map(({ late }) => late),
        [false, true],
      );
    });

    test("one transaction sweeps many inboxes", async () => {
      const intents = [];
      for (let index = 0; index < 12; index += 1) intents.push(await road.create());
      for (const intent of intents) await road.pay(intent, 1_000n);
      const gained = await balanceGains(() => road.settle());
      assert.deepEqual(gained, [12n * 995n, 12n * 5n]);
      const settlements = (await Promise.all(intents.map((intent) => road.settlements(intent)))).flat();
      assert.deepEqual([...new Set(settlements.map(({ status }) => status))], ["landed"]);
      assert.equal(new Set(settlements.map(({ chain_tx }) => chain_tx)).size, 1);
    });

    test("D7 a stranger's netted settlement pays merchant and platform like a sweep, and the ledger matches", async () => {
      const { chain } = road;
      const intents = [await road.create(), await road.create()];
      const [shared, other] = intents.map(toInboxTerms);
      assert.ok(shared && other);
      const gained = await balanceGains(async () => {
        for (const intent of intents) await road.pay(intent, 2_000_001n);
        const args = [shared, [shared.salt, other.salt], settleItemGas] as const;
        const data = encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args });
        await chain.send(stranger, [{ to: chain.hub, data }]);
        await road.settle();
      });
      // Each inbox pays its fee rounded down, netted or not.
      assert.deepEqual(gained, [2n * 1_990_001n, 2n * 10_000n]);
      for (const intent of intents) {
        const { settled_units, fee_units, net_units } = await road.intent(intent);
        assert.deepEqual([settled_units, fee_units, net_units], [2_000_001n, 10_000n, 1_990_001n]);
        const [settlement] = await road.settlements(intent);
        assert.deepEqual([settlement?.status, settlement?.fee_units], ["landed", 10_000n]);
      }
      await road.chain.finalize();
      await road.settle();
      await assertAllChecks(road.world.db);
    });

    test("a token that is not the catalogue's USDC credits nothing", async () => {
      const intent = await road.create();
      const { chain } = road;
      await chain.pay(chain.dusd.address, intent.inbox_address as `0x${string}`, { amountUnits: 5n * 10n ** 18n });
      await road.settle();
      assert.equal((await road.intent(intent)).received_units, 0n);
      assert.deepEqual(
        (await road.deposits(intent)).map(({ status, reason }) => [status, reason]),
        [["held", "no_route"]],
      );
    });

    test("a reorg drops a seen deposit; mined again in another order it counts once", async () => {
      const { chain } = road;
      const [first, second] = [await road.create(), await road.create()];
      const [one, two] = [await road.pay(first, 111n), await road.pay(second, 222n)];
      const signed = await Promise.all([chain.signedOf(two as `0x${string}`), chain.signedOf(one as `0x${string}`)]);
      await road.tick();
      assert.equal((await road.intent(first)).counted_units, 111n);
      // The reorg also removes the sweep, and nothing before the payments; these return in later blocks. A sweep that
      // is mined after the look at the head would save the first payment from it.
      await chain.untilMined();
      const { blockNumber } = await chain.client.getTransactionReceipt({ hash: one as `0x${string}` });
      await chain.reorg(Number((await chain.client.getBlockNumber()) - blockNumber) + 1);
      await road.tick();
      assert.deepEqual(
        (await road.deposits(first)).map(({ status }) => status),
        ["dropped"],
      );
      assert.equal((await road.intent(first)).received_units, 0n);
      for (const raw of signed.toReversed()) await chain.sendSigned(raw);
      await road.settle();
      for (const [intent, units] of [
        [first, 111n],
        [second, 222n],
      ] as const) {
        assert.deepEqual(
          (await road.deposits(intent)).map(({ status }) => status),
          ["counted"],
        );
        assert.equal((await road.intent(intent)).counted_units, units);
      }
    });

    test("the chart of days shows what the settlements' records add up to, also after a reorg of a sweep", async () => {
      const { chain, world, account } = road;
      const { apiKey } = await createKey(world, { accountId: account.id, scopes: [READ_DASHBOARD] });
      const cookie = `tributary_dashboard=${await openSession(world, apiKey)}`;
      const server = await buildServer(world);
      /** Each bar's title holds its exact sum. */
      const chartTotal = async () => {
        await updateSettlementDays(world);
        const { body } = await server.inject({ method: "GET", url: "/dashboard/settlements", headers: { cookie } });
        const titles = [...body.matchAll(/<title>[^<:]+: ([\d.]+) USDC<\/title>/g)];
        return titles.reduce((total, [, decimal = ""]) => total + (parseUnits(decimal, 6) ?? 0n), 0n);
      };
      const recorded = async () => {
        const { rows } = await sql<{ units: bigint }>`select coalesce(sum(net_units), 0) as units
          from settlement where status = 'landed' and token = ${chain.usdc.address.toLowerCase()}`.execute(
          world.db.root,
        );
        return rows[0]?.units;
      };
      const before = await chartTotal();
      assert.equal(before, await recorded());
      const intent = await road.create();
      await road.pay(intent, 5_000_000n);
      await road.settle();
      assert.equal(await chartTotal(), before + 4_975_000n);
      const [settlement] = await road.settlements(intent);
      const head = await chain.client.getBlockNumber();
      await chain.reorg(Number(head - (settlement?.block_number ?? 0n)) + 1);
      await road.tick();
      assert.equal(await chartTotal(), before, "the reorg took it away");
      assert.equal(before, await recorded());
      await road.settle();
      assert.equal(await chartTotal(), before + 4_975_000n, "its sweep is mined again");
      assert.equal(await chartTotal(), await recorded());
      await server.close();
    });

    test("a payout wallet that the issuer blocks delays no other settlement and is paid once unblocked", async () => {
      const { chain } = road;
      const blocked = await road.create({ payoutWallet: `0x${"b1".repeat(20)}` });
      const free = await road.create();
      await chain.blocklist(chain.usdc.address, blocked.payout_wallet as `0x${string}`);
      await road.pay(blocked, 1_000n);
      await road.pay(free, 2_000n);
      await road.settle();
      assert.deepEqual(
        (await road.settlements(free)).map(({ status }) => status),
        ["landed"],
      );
      const [held] = await road.settlements(blocked);
      assert.match(held?.reason ?? "", /settle_refused/);
      assert.equal(await road.balance(blocked.inbox_address), 1_000n);
      await chain.unblocklist(chain.usdc.address, blocked.payout_wallet as `0x${string}`);
      await road.world.db.root
        .updateTable("settlement")
        .set({ retry_at: null })
        .where("intent_id", "=", blocked.id)
        .execute();
      await road.settle();
      assert.equal(await road.balance(blocked.payout_wallet), 995n);
    });

    test("a stranger's sweep pays the merchant, and the ledger matches", async () => {
      const intent = await road.create({ payoutWallet: `0x${"a1".repeat(20)}` });
      await road.pay(intent, 10_000n);
      const { inbox_address: inbox, inbox_hub: hub, payout_token: token } = intent;
      const call = settleCall([{ inbox, token, hub, terms: toInboxTerms(intent) }]);
      await road.chain.send(stranger, [{ to: call.to as `0x${string}`, data: call.data as `0x${string}` }]);
      await road.settle();
      assert.equal(await road.balance(intent.payout_wallet), 9_950n);
      const { settled_units, net_units } = await road.intent(intent);
      assert.deepEqual([settled_units, net_units], [10_000n, 9_950n]);
      assert.deepEqual(
        (await road.settlements(intent)).map(({ fee_units }) => fee_units),
        [50n],
      );
    });
  });
}
