import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listEventTypesOf } from "../../test/support/events.ts";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { insertAccount, insertIntent, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { listDeposits, type ListedDeposit } from "./listDeposits.ts";
import { runChecks } from "../ledger/check.ts";
import { depositChecks } from "./checks.ts";
import { processMovements } from "./processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { countMoney } from "../../test/support/countMoney.ts";

const USDC = 1_000_000n;
let txCount = 0;
const newChainTx = () => `0x${(txCount += 1).toString(16).padStart(64, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`deposits on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    before(async () => {
      db = await openTestDatabase(kind);
      world = stationWorld(db);
      await setHead(db, TEST_CHAIN, { number: 100n });
    });
    after(() => db.close());

    /** Sets the head to `number` and runs the deposit station once. */
    async function headAt(number: bigint): Promise<void> {
      await setHead(db, TEST_CHAIN, { number });
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
    }
    const headNumber = async () =>
      (
        await db.root
          .selectFrom("chain_cursor")
          .select("number")
          .where("chain", "=", TEST_CHAIN)
          .executeTakeFirstOrThrow()
      ).number;
    const intentOf = ({ id }: IntentRow) =>
      db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const depositsOf = async (intent: IntentRow): Promise<ListedDeposit[]> =>
      (await listDeposits(world, { intent, limit: 1_000 })).toReversed();
    const eventsOf = ({ id }: IntentRow) => listEventTypesOf(db, id);
    const insertPriced = (priceTokenUnits: bigint, more: object = {}) =>
      insertIntent(db, { price_units: priceTokenUnits, price_token_units: priceTokenUnits, one_time: true, ...more });

    test("D41 what a bridge gives an inbox of its own units is no deposit", async () => {
      const intent = await insertPriced(25n * USDC);
      const crossing = { crossingName: `cctp-v2/2/0x${"ab".repeat(32)}`, feeUnits: 3_000n };
      await recordMovements(db, intent, [
        { chainTx: newChainTx(), amountUnits: 25n * USDC - 3_000n, block: 100n, crossing },
        { chainTx: newChainTx(), amountUnits: 1n, block: 100n, crossing },
      ]);
      await headAt(101n);
      assert.deepEqual(await depositsOf(intent), []);
      const { status, received_units, counted_units } = await intentOf(intent);
      assert.deepEqual([status, received_units, counted_units], ["active", 0n, 0n]);
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 25n * USDC, block: 101n }]);
      await headAt(102n);
      assert.deepEqual(
        (await depositsOf(intent)).map(({ status, amount_units }) => [status, amount_units]),
        [["counted", 25n * USDC]],
      );
    });

    test("D41 what turns out to be the inbox's own units, given by a bridge, counts no longer and never", async () => {
      const intent = await insertPriced(25n * USDC, { minimum_units: 10_000n });
      const [large, small, late] = [newChainTx(), newChainTx(), newChainTx()];
      const crossing = { crossingName: `cctp-v2/2/0x${"cd".repeat(32)}`, feeUnits: 0n };
      const counted = async () => {
        const { status, received_units, counted_units } = await intentOf(intent);
        return [status, received_units, counted_units];
      };
      // One provider shows transfers without the bridge's logs, and one of them ten times as large.
      await recordMovements(db, intent, [
        { chainTx: large, amountUnits: 20n * USDC, block: 103n },
        { chainTx: small, amountUnits: 6_000n, block: 103n },
        { chainTx: small, amountUnits: 6_000n, block: 103n, position: 1 },
      ]);
      await setHead(db, TEST_CHAIN, { number: 104n, finalized: 104n });
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
      assert.deepEqual(await counted(), ["active", 20n * USDC + 12_000n, 20n * USDC + 12_000n]);
      await recordMovements(db, intent, [{ chainTx: late, amountUnits: 200n * USDC, block: 105n }]);
      await processMovements(world, TEST_CHAIN);
      await recordMovements(db, intent, [
        { chainTx: large, amountUnits: 20n * USDC, block: 103n, crossing },
        { chainTx: small, amountUnits: 6_000n, block: 103n, crossing },
        { chainTx: small, amountUnits: 6_000n, block: 103n, position: 1, crossing },
        { chainTx: late, amountUnits: 20n * USDC, block: 105n, crossing },
      ]);
      await setHead(db, TEST_CHAIN, { number: 110n, finalized: 110n });
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
      assert.deepEqual(await counted(), ["active", 0n, 0n]);
      const dropped = (await depositsOf(intent)).map(({ chain_tx, status, amount_units }) => [
        chain_tx,
        status,
        amount_units,
      ]);
      assert.deepEqual(dropped, [
        [large, "dropped", 20n * USDC],
        [late, "dropped", 20n * USDC],
      ]);
      assert.ok((await eventsOf(intent)).includes("deposit.dropped"));
      const changed = ["deposit-matches-movement", "deposit-on-canonical-chain"];
      const checks = depositChecks.filter(({ name }) => changed.includes(name));
      assert.deepEqual(await runChecks(db, checks), []);
    });

    test("D5 small transfers that turn out to be larger are deposits, and no longer part of the sums", async () => {
      for (const amountUnits of [4_000n, 12_000n]) {
        const intent = await insertPriced(25n * USDC, { minimum_units: 10_000n });
        const chainTx = newChainTx();
        const block = (await headNumber()) + 1n;
        const movement = { chainTx, block };
        // One provider shows two transfers as far too small: together they stay below the minimum, or reach it.
        const other = { chainTx, block, position: 1, amountUnits: amountUnits / 2n };
        await recordMovements(db, intent, [{ ...movement, amountUnits: amountUnits / 2n }, other]);
        await setHead(db, TEST_CHAIN, { number: block + 1n, finalized: block + 1n });
        await processMovements(world, TEST_CHAIN);
        await countMoney(world, TEST_CHAIN);
        assert.equal((await intentOf(intent)).received_units, amountUnits);
        await recordMovements(db, intent, [{ ...movement, amountUnits: 7n * USDC }]);
        await setHead(db, TEST_CHAIN, { number: block + 5n, finalized: block + 5n });
        await processMovements(world, TEST_CHAIN);
        await countMoney(world, TEST_CHAIN);
        const { received_units, counted_units } = await intentOf(intent);
        assert.deepEqual([received_units, counted_units], [7n * USDC + amountUnits / 2n, 7n * USDC]);
        assert.deepEqual(await runChecks(db, depositChecks), []);
      }
    });

    test("D5 a deposit is seen at once, counted when final, and then settles a one-time intent", async () => {
      const intent = await insertPriced(25n * USDC);
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 25n * USDC, block: 100n }]);
      await headAt(100n);
      assert.deepEqual(
        (await depositsOf(intent)).map((deposit) => deposit.status),
        ["seen"],
      );
      assert.equal((await intentOf(intent)).pending_count, 1);
      await headAt(101n);
      const settled = await intentOf(intent);
      assert.deepEqual(
        [settled.status, settled.counted_units, settled.received_units, settled.pending_count],
        ["settled", 25n * USDC, 25n * USDC, 0],
      );
      assert.deepEqual(await eventsOf(intent), [
        "deposit.seen",
        "deposit.confirmed",
        "deposit.counted",
        "payment_intent.paid",
        "payment_intent.settled",
      ]);
    });

    test("§3.1, §3.2 a settled intent frees its destination and a repeatable one stays active", async () => {
      const account_id = await insertAccount(db);
      const payout_wallet = `0x${"ab".repeat(20)}`;
      const first = await insertPriced(USDC, { account_id, payout_wallet, occupies: true });
      await assert.rejects(
        () => insertPriced(USDC, { account_id, payout_wallet, occupies: true }),
        /intent_occupied_destination/,
      );
      await recordMovements(db, first, [{ chainTx: newChainTx(), amountUnits: USDC, block: 101n }]);
      await headAt(102n);
      await insertPriced(USDC, { account_id, payout_wallet, occupies: true });
      const open = await insertIntent(db);
      await recordMovements(db, open, [{ chainTx: newChainTx(), amountUnits: USDC, block: 102n }]);
      await headAt(103n);
      assert.equal((await intentOf(open)).status, "active");
      assert.ok((await eventsOf(open)).includes("payment_intent.paid"));
    });

    test("D4 several transfers of one transaction are several deposits, and a repeat adds none", async () => {
      const intent = await insertPriced(3n * USDC);
      const chainTx = newChainTx();
      const both = [
        { chainTx, position: 0, amountUnits: USDC, block: 103n },
        { chainTx, position: 3, amountUnits: 2n * USDC, block: 103n },
      ];
      await recordMovements(db, intent, both);
      await recordMovements(db, intent, both);
      await headAt(104n);
      await recordMovements(db, intent, both);
      await headAt(105n);
      assert.equal((await depositsOf(intent)).length, 2);
      assert.equal((await intentOf(intent)).counted_units, 3n * USDC);
    });

    test("D8 the price counts as reached within the tolerance, and the shortfall stays", async () => {
      const intent = await insertPriced(100n * USDC, { underpay_tolerance_bps: 100 });
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 98_999_999n, block: 105n }]);
      await headAt(106n);
      assert.equal((await intentOf(intent)).status, "active");
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 1n, block: 106n }]);
      await headAt(107n);
      const settled = await intentOf(intent);
      assert.deepEqual([settled.status, settled.counted_units], ["settled", 99n * USDC]);
    });

    test("D5 deposits below the minimum wait for others, but never once the price is reached", async () => {
      const open = await insertIntent(db, { minimum_units: USDC });
      const paid = await insertPriced(USDC, { minimum_units: 5n * USDC });
      await recordMovements(db, open, [{ chainTx: newChainTx(), amountUnits: USDC / 2n, block: 107n }]);
      await recordMovements(db, paid, [{ chainTx: newChainTx(), amountUnits: USDC, block: 107n }]);
      await headAt(108n);
      assert.deepEqual(
        (await depositsOf(open)).map(({ status, reason }) => [status, reason]),
        [["confirmed", "below_minimum"]],
      );
      assert.equal((await intentOf(open)).counted_units, 0n);
      assert.equal((await intentOf(paid)).status, "settled");
      await recordMovements(db, open, [{ chainTx: newChainTx(), amountUnits: USDC / 2n, block: 108n }]);
      await headAt(109n);
      assert.deepEqual(
        (await depositsOf(open)).map(({ status, reason }) => [status, reason]),
        [
          ["counted", null],
          ["counted", null],
        ],
      );
      assert.equal((await intentOf(open)).counted_units, USDC);
    });

    test("D5 a deposit in another token than the payout's is held and credits nothing", async () => {
      const intent = await insertPriced(USDC);
      await recordMovements(db, intent, [
        { chainTx: newChainTx(), token: `0x${"77".repeat(20)}`, amountUnits: USDC, block: 109n },
      ]);
      await headAt(110n);
      assert.deepEqual(
        (await depositsOf(intent)).map(({ status, reason }) => [status, reason]),
        [["held", "no_route"]],
      );
      assert.equal((await intentOf(intent)).received_units, 0n);
    });

    test("D4 a pending deposit shows its required confirmations, also after further deposits", async () => {
      const finality = [
        { upToPriceUnits: 1_000n * USDC, finality: { confirmations: 9 } },
        { upToPriceUnits: undefined, finality: { tag: "finalized" } },
      ] as const;
      const tiered = stationWorld(db, { finality: [...finality] });
      const intent = await insertIntent(db);
      const required = async () => (await depositsOf(intent)).map((deposit) => deposit.required_confirmations);
      const pay = async (amountUnits: bigint) => {
        await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits, block: 100n }]);
        await processMovements(tiered, TEST_CHAIN);
      };
      await setHead(db, TEST_CHAIN, { number: 100n });
      await pay(900n * USDC);
      assert.deepEqual(await required(), [9]);
      await pay(101n * USDC);
      assert.deepEqual(await required(), [null, null]);
      assert.deepEqual(await eventsOf(intent), ["deposit.seen", "deposit.seen"]);
      await setHead(db, TEST_CHAIN, { number: 108n, finalized: 100n });
      await countMoney(tiered, TEST_CHAIN);
      assert.deepEqual(
        (await depositsOf(intent)).map(({ status }) => status),
        ["counted", "counted"],
      );
      await setHead(db, TEST_CHAIN, { number: 100n });
    });

    test("D3 a deposit after the intent has settled is late, and still counted", async () => {
      const intent = await insertPriced(USDC);
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: USDC, block: 110n }]);
      await headAt(111n);
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 2n * USDC, block: 111n }]);
      await headAt(112n);
      assert.deepEqual(
        (await depositsOf(intent)).map(({ status, late }) => [status, late]),
        [
          ["counted", false],
          ["counted", true],
        ],
      );
      assert.equal((await intentOf(intent)).counted_units, 3n * USDC);
    });

    test("D3 a reorg drops a counted deposit and reopens the intent; mined again it counts once", async () => {
      const intent = await insertPriced(USDC);
      const chainTx = newChainTx();
      await recordMovements(db, intent, [{ chainTx, amountUnits: USDC, block: 112n }]);
      await headAt(113n);
      await recordMovements(db, intent, [{ chainTx, amountUnits: USDC, block: 112n, orphaned: true }]);
      await headAt(113n);
      const reopened = await intentOf(intent);
      assert.deepEqual([reopened.status, reopened.counted_units, reopened.received_units], ["active", 0n, 0n]);
      assert.deepEqual(
        (await depositsOf(intent)).map(({ status, reason }) => [status, reason]),
        [["dropped", "reorg"]],
      );
      await recordMovements(db, intent, [{ chainTx, amountUnits: USDC, block: 114n, fork: "b", place: 7 }]);
      await headAt(115n);
      const again = await intentOf(intent);
      assert.deepEqual([again.status, again.counted_units, (await depositsOf(intent)).length], ["settled", USDC, 1]);
      const types = await eventsOf(intent);
      assert.deepEqual(types.slice(5), [
        "deposit.dropped",
        "payment_intent.reopened",
        "deposit.seen",
        "deposit.confirmed",
        "deposit.counted",
        "payment_intent.paid",
        "payment_intent.settled",
      ]);
    });

    test("a deposit in an orphaned block is not counted by the height of the replacing branch", async () => {
      const intent = await insertPriced(USDC);
      const chainTx = newChainTx();
      await recordMovements(db, intent, [{ chainTx, amountUnits: USDC, block: 120n }]);
      await headAt(120n);
      // One pass of the watcher orphans the block and reads far beyond it, before the deposit station runs.
      await recordMovements(db, intent, [{ chainTx, amountUnits: USDC, block: 120n, orphaned: true }]);
      await setHead(db, TEST_CHAIN, { number: 130n });
      await countMoney(world, TEST_CHAIN);
      assert.equal((await intentOf(intent)).counted_units, 0n);
      await headAt(130n);
      assert.deepEqual(await eventsOf(intent), ["deposit.seen", "deposit.dropped"]);
    });

    test("thousands of transfers to one inbox become final together", async () => {
      const intent = await insertPriced(USDC);
      const dust = Array.from({ length: 4_000 }, () => ({ chainTx: newChainTx(), amountUnits: 1n, block: 140n }));
      await recordMovements(db, intent, dust);
      await setHead(db, TEST_CHAIN, { number: 140n });
      while (!(await processMovements(world, TEST_CHAIN)).isDone);
      await headAt(141n);
      assert.equal((await intentOf(intent)).counted_units, 4_000n);
    });

    test("D3 of two settled intents that one reorg leaves unpaid, one reopens its destination", async () => {
      const account_id = await insertAccount(db);
      const shared = { account_id, payout_wallet: `0x${"ef".repeat(20)}`, occupies: true };
      const paid = [];
      for (let index = 0; index < 2; index += 1) {
        const intent = await insertPriced(USDC, shared);
        const movement = { chainTx: newChainTx(), amountUnits: USDC, block: 150n };
        await recordMovements(db, intent, [movement]);
        await headAt(151n);
        paid.push({ intent, movement });
      }
      for (const { intent, movement } of paid) await recordMovements(db, intent, [{ ...movement, orphaned: true }]);
      await headAt(151n);
      const statuses = await Promise.all(paid.map(async ({ intent }) => (await intentOf(intent)).status));
      assert.deepEqual(new Set(statuses), new Set(["active", "settled"]));
      const lastEvents = (await Promise.all(paid.map(({ intent }) => eventsOf(intent)))).map((types) => types.at(-1));
      assert.deepEqual(new Set(lastEvents), new Set(["payment_intent.reopened", "payment_intent.reversed"]));
    });

    test("a deposit follows its transaction when that transfers something else in another block", async () => {
      const intent = await insertIntent(db);
      const [chainTx, payer, other] = [newChainTx(), `0x${"a1".repeat(20)}`, `0x${"a2".repeat(20)}`];
      await recordMovements(db, intent, [{ chainTx, counterparty: payer, amountUnits: USDC, block: 116n }]);
      await headAt(117n);
      await recordMovements(db, intent, [{ chainTx, counterparty: other, amountUnits: 2n, block: 117n, fork: "b" }]);
      await headAt(118n);
      const [deposit, ...others] = await depositsOf(intent);
      assert.deepEqual([deposit?.sender, deposit?.counted_units, others], [other, 2n, []]);
      assert.equal((await intentOf(intent)).counted_units, 2n);
    });

    test("D3 a settled intent whose destination is occupied again stays settled and emits a reversal", async () => {
      const account_id = await insertAccount(db);
      const payout_wallet = `0x${"cd".repeat(20)}`;
      const first = await insertPriced(USDC, { account_id, payout_wallet, occupies: true });
      const chainTx = newChainTx();
      await recordMovements(db, first, [{ chainTx, amountUnits: USDC, block: 115n }]);
      await headAt(116n);
      const second = await insertPriced(USDC, { account_id, payout_wallet, occupies: true });
      await recordMovements(db, first, [{ chainTx, amountUnits: USDC, block: 115n, orphaned: true }]);
      await headAt(116n);
      const reversed = await intentOf(first);
      assert.deepEqual([reversed.status, reversed.counted_units], ["settled", 0n]);
      assert.equal((await eventsOf(first)).at(-1), "payment_intent.reversed");
      // The second intent settles and frees the destination; unrelated dust does not reopen the first intent.
      await recordMovements(db, second, [{ chainTx: newChainTx(), amountUnits: USDC, block: 116n }]);
      await headAt(117n);
      await recordMovements(db, first, [{ chainTx: newChainTx(), amountUnits: 1n, block: 117n }]);
      await headAt(118n);
      assert.deepEqual([(await intentOf(second)).status, (await intentOf(first)).status], ["settled", "settled"]);
    });
  });
}
