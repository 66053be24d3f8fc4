import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { settleItemGas } from "@tributary/inbox/hubs";
import { sql } from "kysely";
import { encodeFunctionData, erc20Abi, type Hex } from "viem";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import { array } from "../../src/db/parameters.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { watchNow } from "../support/watchNow.ts";
import { rescanChainTx } from "../../src/watch/reread/rescan.ts";
import { thoroughDatabases } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { callInOneTransaction, nextContract, type InnerCall } from "../support/oneTransaction.ts";
import { openRoad, type Road } from "../support/road.ts";

const { payoutFirst, feeRecipient, stranger } = DEV_ACCOUNTS;
/** At half a percent: 50.005, 50.995 and 0.995 units, each rounded down. */
const AMOUNTS = [10_001n, 10_199n, 199n];

// The fee of a settlement is what the chain moved to the fee wallet, whoever settles, and however.

for (const database of thoroughDatabases) {
  describe(`the fee of a settlement on ${database}`, () => {
    let road: Road;
    before(async () => {
      road = await openRoad({ database });
    });
    after(() => road.close());

    const settled = (intent: IntentRow): InnerCall => ({
      to: road.chain.hub,
      data: encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [toInboxTerms(intent)] }),
    });
    function netted(intents: readonly IntentRow[]): InnerCall {
      const terms = intents.map(toInboxTerms);
      const [shared] = terms;
      assert.ok(shared);
      const args = [shared, terms.map(({ salt }) => salt), settleItemGas] as const;
      return { to: road.chain.hub, data: encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args }) };
    }
    const transfer = (to: string, amountUnits: bigint, token: Hex = road.chain.usdc.address): InnerCall => ({
      to: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to as Hex, amountUnits] }),
    });
    async function sendByStranger(call: InnerCall): Promise<Hex> {
      const [receipt] = await road.chain.send(stranger, [{ ...call, gasLimit: 4_000_000n }]);
      assert.equal(receipt?.status, "success");
      return receipt.transactionHash;
    }
    /** A stranger's transaction with several calls, which may spend this much of each token. */
    async function callByStranger(calls: readonly InnerCall[], amountUnits = 1_000_000n): Promise<void> {
      const contract = await nextContract(road.chain, stranger);
      for (const { address } of [road.chain.usdc, road.chain.dusd])
        await road.chain.mint(address, contract, amountUnits);
      await callInOneTransaction(road.chain, stranger, calls);
    }
    async function createPaid(amounts: readonly bigint[]): Promise<IntentRow[]> {
      const intents: IntentRow[] = [];
      for (const amountUnits of amounts) {
        const intent = await road.create();
        await road.pay(intent, amountUnits);
        intents.push(intent);
      }
      return intents;
    }
    /**
     * What `work` and the settlements after it add to the wallets, as the chain shows it and as the ledger shows it.
     */
    async function gains(work: () => Promise<unknown>): Promise<{ payout: bigint; fee: bigint }> {
      const read = async () => {
        const rows = await road.world.db.root
          .selectFrom("ledger_entry")
          .select(["account", ({ fn }) => fn.sum<bigint>("amount_units").as("units")])
          .groupBy("account")
          .execute();
        const booked = (account: string) => rows.find((row) => row.account === account)?.units ?? 0n;
        return {
          chain: [await road.balance(payoutFirst.address), await road.balance(feeRecipient.address)] as const,
          ledger: [booked("payout:world"), booked("fee:platform")] as const,
          hub: booked(`hub:${road.chain.caip2}`),
        };
      };
      const before = await read();
      await work();
      await road.settle();
      await road.chain.finalize();
      await road.settle();
      const after = await read();
      await assertAllChecks(road.world.db);
      const change = (of: "chain" | "ledger") => ({
        payout: after[of][0] - before[of][0],
        fee: after[of][1] - before[of][1],
      });
      assert.deepEqual(change("ledger"), change("chain"), "the ledger shows what the wallets received");
      assert.equal(after.hub, before.hub, "the hub keeps nothing");
      return change("chain");
    }
    async function fees(intents: readonly IntentRow[]): Promise<bigint[]> {
      return Promise.all(intents.map(async (intent) => (await road.intent(intent)).fee_units));
    }
    async function whileBlocked<T>(work: () => Promise<T>): Promise<T> {
      const { chain } = road;
      await chain.blocklist(chain.usdc.address, feeRecipient.address);
      try {
        return await work();
      } finally {
        await chain.unblocklist(chain.usdc.address, feeRecipient.address);
      }
    }

    test("a stranger's netted settlement books each inbox's fee as the platform's", async () => {
      const intents = await createPaid(AMOUNTS);
      assert.deepEqual(await gains(() => sendByStranger(netted(intents))), { payout: 20_299n, fee: 100n });
      assert.deepEqual(await fees(intents), [50n, 50n, 0n]);
    });

    test("a netted settlement whose fee wallet is blocked has no fee", async () => {
      const intents = await createPaid(AMOUNTS);
      const gained = await whileBlocked(() => gains(() => sendByStranger(netted(intents))));
      assert.deepEqual(gained, { payout: 20_399n, fee: 0n });
      assert.deepEqual(await fees(intents), [0n, 0n, 0n]);
    });

    test("a netted settlement of an amount without a fee pays it out whole", async () => {
      const intents = await createPaid([199n]);
      assert.deepEqual(await gains(() => sendByStranger(netted(intents))), { payout: 199n, fee: 0n });
    });

    test("two settlements in one transaction have two fees, each rounded down", async () => {
      const [intent] = await createPaid([10_199n]);
      assert.ok(intent);
      const again = transfer(intent.inbox_address, 10_199n);
      const gained = await gains(() => callByStranger([settled(intent), again, settled(intent)]));
      assert.deepEqual(gained, { payout: 20_298n, fee: 100n });
      assert.deepEqual(await fees([intent]), [100n]);
    });

    test("an inbox that one transaction nets twice has two fees", async () => {
      const intents = await createPaid([10_199n, 10_001n]);
      const again = intents.map((intent) => transfer(intent.inbox_address, 10_199n));
      const gained = await gains(() => callByStranger([netted(intents), ...again, netted(intents)]));
      assert.deepEqual(gained, { payout: 40_598n - 200n, fee: 200n });
      assert.deepEqual(await fees(intents), [100n, 100n]);
    });

    test("netted and single settlements of one transaction, with a stranger's transfers to the hub in between", async () => {
      const intents = await createPaid(AMOUNTS);
      const [first] = intents;
      assert.ok(first);
      const dust = (units: bigint) => transfer(road.chain.hub, units);
      const calls = [
        dust(5n),
        netted(intents),
        dust(777n),
        transfer(first.inbox_address, 10_199n),
        settled(first),
        transfer(first.inbox_address, 399n),
        transfer(road.chain.hub, 9n, road.chain.dusd.address),
        netted([first]),
        dust(1n),
      ];
      const gained = await gains(() => callByStranger(calls));
      assert.deepEqual(gained, { payout: 20_299n + 10_149n + 398n, fee: 100n + 50n + 1n });
      assert.deepEqual(await fees(intents), [101n, 50n, 0n]);
    });

    test("a blocked fee wallet, and netted and single settlements of one transaction", async () => {
      const intents = await createPaid(AMOUNTS);
      const [first] = intents;
      assert.ok(first);
      const calls = [netted(intents), transfer(first.inbox_address, 10_199n), settled(first)];
      const gained = await whileBlocked(() => gains(() => callByStranger(calls)));
      assert.deepEqual(gained, { payout: 20_399n + 10_199n, fee: 0n });
      assert.deepEqual(await fees(intents), [0n, 0n, 0n]);
    });

    test("a stranger's own inbox in a merchant's netted settlement changes no fee of the merchant's intents", async () => {
      const intents = await createPaid(AMOUNTS);
      const [first] = intents;
      assert.ok(first);
      const terms = toInboxTerms(first);
      const salt = `0x${"5a".repeat(32)}` as const;
      const own = await road.chain.client.readContract({
        address: road.chain.hub,
        abi: hubAbi,
        functionName: "inboxOf",
        args: [{ ...terms, salt }],
      });
      const args = [terms, [salt, ...intents.map((intent) => toInboxTerms(intent).salt)], settleItemGas] as const;
      const data = encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args });
      const before = await road.balance(feeRecipient.address);
      await callByStranger([transfer(own, 10_199n), { to: road.chain.hub, data }]);
      await road.settle();
      assert.equal((await road.balance(feeRecipient.address)) - before, 150n);
      assert.deepEqual(await fees(intents), [50n, 50n, 0n]);
      await assertAllChecks(road.world.db);
    });

    // The update stands for a provider whose receipt left out the hub's payments.
    test("a payment of the hub that the first reading left out is found by the reread", async () => {
      const intents = await createPaid(AMOUNTS);
      const [chain] = road.world.chains.values();
      assert.ok(chain);
      const gained = await gains(async () => {
        await sendByStranger(netted(intents));
        await watchNow(road.world, chain);
        const ids = intents.map(({ id }) => id);
        await road.world.db.root
          .updateTable("movement")
          .set({ fee_units: null, batch_place: null, batch_fee_units: null })
          .where("intent_id", "in", ids)
          .where("direction", "=", "out")
          .execute();
        await road.tick();
        await road.tick();
        assert.deepEqual(await fees(intents), [0n, 0n, 0n]);
      });
      assert.deepEqual(gained, { payout: 20_299n, fee: 100n });
      assert.deepEqual(await fees(intents), [50n, 50n, 0n]);
    });

    /** Records movements during `work` without the columns of migration 0017, as releases before it did. */
    async function asBeforeNettedFees(work: () => Promise<void>): Promise<void> {
      const { root } = road.world.db;
      await sql`create function forget_fee() returns trigger language plpgsql as $$
        begin new.fee_units = null; new.batch_place = null; new.batch_fee_units = null; return new; end $$`.execute(
        root,
      );
      await sql`create trigger forget_fee before insert or update on movement
        for each row execute function forget_fee()`.execute(root);
      try {
        await work();
      } finally {
        await sql`drop function forget_fee() cascade`.execute(root);
      }
    }

    test("a rescan of a netted transaction from before migration 0017 reads its fees, and a second one changes nothing", async () => {
      const intents = await createPaid(AMOUNTS);
      let chainTx = "";
      const gained = await gains(async () => {
        await asBeforeNettedFees(async () => {
          chainTx = await sendByStranger(netted(intents));
          await road.settle();
          await road.chain.finalize();
          await road.settle();
        });
        assert.deepEqual(await fees(intents), [0n, 0n, 0n]);
        const [scan] = await rescanChainTx(road.world, { chainTx });
        assert.deepEqual([scan?.outcome, scan?.recorded.length], ["read", 3]);
      });
      assert.deepEqual(gained, { payout: 20_299n, fee: 100n });
      assert.deepEqual(await fees(intents), [50n, 50n, 0n]);
      const [again] = await rescanChainTx(road.world, { chainTx });
      assert.deepEqual([again?.outcome, again?.recorded.length], ["read", 0]);
    });

    test("fees above what the hub paid fail a check", async () => {
      const intents = await createPaid(AMOUNTS);
      await gains(() => sendByStranger(netted(intents)));
      const lower = (units: number) =>
        sql`update movement set batch_fee_units = batch_fee_units - ${units}
          where intent_id = any(${array(
            intents.map(({ id }) => id),
            "text",
          )}) and batch_fee_units > 0`.execute(road.world.db.root);
      await lower(1);
      const failed = await runLedgerChecks(road.world.db);
      assert.deepEqual(
        failed.map(({ check }) => check),
        ["netted-fees-were-paid"],
      );
      await lower(-1);
    });

    test("a dropped netted settlement has no fee, and its repetition in another block has one", async () => {
      const intents = await createPaid(AMOUNTS);
      const gained = await gains(async () => {
        const signed = await road.chain.signedOf(await sendByStranger(netted(intents)));
        await road.tick();
        await road.tick();
        assert.deepEqual(await fees(intents), [50n, 50n, 0n]);
        await road.chain.rollback(1);
        await road.chain.mine(2);
        await road.tick();
        assert.deepEqual(await fees(intents), [0n, 0n, 0n]);
        await road.chain.sendSigned(signed).catch(() => undefined);
      });
      assert.deepEqual(gained, { payout: 20_299n, fee: 100n });
      assert.deepEqual(await fees(intents), [50n, 50n, 0n]);
    });
  });
}
