import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listEventsOf } from "../../../test/support/events.ts";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../../test/support/stationWorld.ts";
import type { Db } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import { runChecks } from "../../ledger/check.ts";
import { depositChecks } from "../checks.ts";
import { countDeposits } from "../countDeposits.ts";
import { processMovements } from "../processMovements.ts";
import { deletePostponed, insertPostponed } from "../../watch/postponed/postponedStore.ts";
import { listDeposits } from "../listDeposits.ts";
import { sumDust, type DustLimits } from "../sumDust.ts";

const USDC = 1_000_000n;
const CENT = 10_000n;
let txCount = 0;
const objectOf = (event: { data: unknown } | undefined): Record<string, unknown> =>
  (event?.data as { object: Record<string, unknown> } | undefined)?.object ?? {};
const newChainTx = () => `0xd0${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`dust on ${kind}`, () => {
    let db: Db;
    let world: StationWorld & DustLimits;
    before(async () => {
      db = await openTestDatabase(kind);
      world = stationWorld(db);
      await setHead(db, TEST_CHAIN, { number: 1n });
    });
    after(() => db.close());

    async function headAt(number: bigint, limits: DustLimits = {}): Promise<void> {
      await setHead(db, TEST_CHAIN, { number });
      while (!(await processMovements(world, TEST_CHAIN)).isDone);
      await countDeposits(world, TEST_CHAIN);
      while (!(await sumDust({ ...world, ...limits }, TEST_CHAIN)).isDone);
    }
    const intentOf = ({ id }: IntentRow) =>
      db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const holdingOf = ({ id }: IntentRow) =>
      db.root.selectFrom("holding").selectAll().where("intent_id", "=", id).executeTakeFirstOrThrow();
    const eventsOf = ({ id }: IntentRow) => listEventsOf(db, id);
    const rowsOf = ({ id }: IntentRow) =>
      db.root.selectFrom("deposit").select("id").where("intent_id", "=", id).execute();
    const listed = (intent: IntentRow) => listDeposits(world, { intent, limit: 1_000 });
    const transfers = (count: number, amountUnits: bigint, block: bigint): MovementInput[] => {
      const chainTx = newChainTx();
      return Array.from({ length: count }, (_, position) => ({ chainTx, position, amountUnits, block }));
    };

    test("D43 transfers below the minimum make no deposit and no event until they count together, with one event", async () => {
      const intent = await insertIntent(db, { minimum_units: CENT });
      await recordMovements(db, intent, transfers(60, 100n, 10n));
      await headAt(10n);
      assert.deepEqual(new Set((await listed(intent)).map(({ status }) => status)), new Set(["seen"]));
      await headAt(11n);
      assert.deepEqual(
        [(await rowsOf(intent)).length, (await eventsOf(intent)).length, (await listed(intent)).length],
        [0, 0, 60],
      );
      assert.deepEqual(
        [...new Set((await listed(intent)).map(({ status, reason }) => `${status} ${reason}`))],
        ["confirmed below_minimum"],
      );
      assert.deepEqual([(await intentOf(intent)).received_units, (await intentOf(intent)).counted_units], [6_000n, 0n]);
      await recordMovements(db, intent, transfers(40, 100n, 12n));
      await headAt(13n);
      const events = await eventsOf(intent);
      assert.deepEqual(
        events.map(({ type }) => type),
        ["deposit.counted", "payment_intent.paid"],
      );
      const object = objectOf(events[0]);
      const last = (await listed(intent))[0];
      assert.deepEqual(
        [object["depositCount"], object["amountUnits"], object["countedUnits"], object["status"], object["depositId"]],
        [100, "10000", "10000", "counted", last?.id],
      );
      assert.deepEqual(new Set((await listed(intent)).map(({ status }) => status)), new Set(["counted"]));
      assert.equal((await intentOf(intent)).counted_units, CENT);
      assert.equal((await holdingOf(intent)).unswept_units, CENT);
      assert.deepEqual(await runChecks(db, depositChecks), []);
    });

    test("D5 dust that completes the price counts at once", async () => {
      const terms = { price_units: USDC, price_token_units: USDC, one_time: true, minimum_units: CENT };
      const intent = await insertIntent(db, terms);
      await recordMovements(db, intent, [
        { chainTx: newChainTx(), amountUnits: USDC - 5n, block: 20n },
        ...transfers(5, 1n, 20n),
      ]);
      await headAt(20n);
      assert.equal((await intentOf(intent)).status, "active");
      await headAt(21n);
      const settled = await intentOf(intent);
      assert.deepEqual([settled.status, settled.counted_units, settled.received_units], ["settled", USDC, USDC]);
    });

    test("D5 a single transfer that reaches the price is a deposit, however far below the minimum", async () => {
      const intent = await insertIntent(db, {
        price_units: 5n,
        price_token_units: 5n,
        one_time: true,
        minimum_units: CENT,
      });
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 5n, block: 22n }]);
      await headAt(23n);
      assert.equal((await rowsOf(intent)).length, 1);
      assert.equal((await intentOf(intent)).status, "settled");
    });

    test("pages of blocks give the same sums as one pass", async () => {
      const sums = [];
      for (const limits of [{}, { dustRowsMax: 3 }]) {
        const intent = await insertIntent(db, { minimum_units: 700n });
        for (let block = 30n; block < 40n; block += 1n) await recordMovements(db, intent, transfers(2, 100n, block));
        await headAt(45n, limits);
        const { waiting_units, waiting_count, dust_units, dust_count, counted_block } = await holdingOf(intent);
        sums.push([waiting_units, waiting_count, dust_units, dust_count, counted_block]);
      }
      assert.deepEqual(sums, [sums[1], sums[1]]);
      assert.deepEqual(sums[0], [400n, 4n, 1_600n, 16n, 37n]);
    });

    test("a reorganisation of summed blocks takes dust out of the sums, and the event says how much", async () => {
      const intent = await insertIntent(db, { minimum_units: 100n });
      const counted = transfers(3, 50n, 50n);
      await recordMovements(db, intent, counted);
      await headAt(52n);
      assert.equal((await intentOf(intent)).counted_units, 150n);
      await recordMovements(
        db,
        intent,
        counted.map((movement, index) => ({ ...movement, orphaned: index > 0 })),
      );
      await headAt(53n);
      assert.deepEqual([(await intentOf(intent)).counted_units, (await intentOf(intent)).received_units], [0n, 50n]);
      assert.deepEqual(
        (await listed(intent)).map(({ status }) => status),
        ["dropped", "dropped", "confirmed"],
      );
      const dropped = (await eventsOf(intent)).find(({ type }) => type === "deposit.dropped");
      const object = objectOf(dropped);
      assert.deepEqual([object["depositCount"], object["amountUnits"]], [3, "150"]);
      assert.deepEqual(await runChecks(db, depositChecks), []);
    });

    test("dust that a provider reports late, in a block that is summed, is added", async () => {
      const intent = await insertIntent(db, { minimum_units: 100n });
      await recordMovements(db, intent, transfers(1, 60n, 60n));
      await headAt(65n);
      await recordMovements(db, intent, transfers(1, 60n, 61n));
      await headAt(66n);
      assert.equal((await intentOf(intent)).counted_units, 120n);
      assert.deepEqual(await runChecks(db, depositChecks), []);
    });

    test("dust found late in counted blocks takes nothing back, wherever it lies", async () => {
      const intent = await insertIntent(db, { minimum_units: 100n });
      await recordMovements(db, intent, transfers(1, 60n, 91n));
      await recordMovements(db, intent, transfers(1, 90n, 92n));
      await headAt(95n);
      assert.equal((await intentOf(intent)).counted_units, 150n);
      // With these 40 the first block would have counted alone, and 90 units less.
      await recordMovements(db, intent, transfers(1, 40n, 91n));
      await headAt(96n);
      const { counted_units, received_units } = await intentOf(intent);
      assert.deepEqual([counted_units, received_units], [190n, 190n]);
      assert.deepEqual(
        (await eventsOf(intent)).map(({ type }) => type).filter((type) => type.startsWith("deposit.")),
        ["deposit.counted", "deposit.counted"],
      );
      assert.deepEqual(await runChecks(db, depositChecks), []);
    });

    test("sums stop below a block whose dust watch has not recorded yet, and go on from there", async () => {
      const intent = await insertIntent(db, { minimum_units: 100n });
      await recordMovements(db, intent, transfers(1, 30n, 101n));
      await recordMovements(db, intent, transfers(1, 80n, 103n));
      const chainTx = newChainTx();
      const found = [{ chainTx, blockNumber: 102n, inboxes: [intent.inbox_address] }];
      await insertPostponed(db, { chain: TEST_CHAIN, found, at: world.clock.now() });
      await headAt(110n);
      const { dust_block, waiting_units } = await holdingOf(intent);
      assert.deepEqual([dust_block, waiting_units, (await intentOf(intent)).counted_units], [101n, 30n, 0n]);
      await recordMovements(db, intent, [{ chainTx, amountUnits: 1n, block: 102n }]);
      await deletePostponed(db, { chain: TEST_CHAIN, blockNumber: 102n, chainTxs: [chainTx] });
      await headAt(111n);
      assert.equal((await intentOf(intent)).counted_units, 111n);
      assert.deepEqual(await runChecks(db, depositChecks), []);
    });

    test("dust in another token than the payout's is held, and costs no event either", async () => {
      const intent = await insertIntent(db, { minimum_units: CENT });
      const token = `0x${"77".repeat(20)}`;
      const known = {
        symbol: "EURX",
        slug: "eurx",
        address: token,
        decimals: 6,
        minimumUnits: 0n,
        isOrigin: true,
        isRail: false,
      };
      const both = stationWorld(db, { tokens: [...(world.config.chains[0]?.tokens ?? []), known] });
      await recordMovements(db, intent, [{ chainTx: newChainTx(), token, amountUnits: 1n, block: 70n }]);
      await setHead(db, TEST_CHAIN, { number: 75n });
      await processMovements(both, TEST_CHAIN);
      assert.deepEqual(
        (await listDeposits(both, { intent, limit: 10 })).map(({ status, reason, token_decimals }) => [
          status,
          reason,
          token_decimals,
        ]),
        [["held", "no_route", 6]],
      );
      assert.deepEqual([(await rowsOf(intent)).length, (await eventsOf(intent)).length], [0, 0]);
    });

    test("a page of the list continues below its last transfer, over dust and deposits", async () => {
      const intent = await insertIntent(db, { minimum_units: CENT });
      for (let block = 80n; block < 84n; block += 1n) {
        await recordMovements(db, intent, transfers(2, 1n, block));
        await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: USDC, block }]);
      }
      await headAt(90n);
      const all = await listed(intent);
      const first = await listDeposits(world, { intent, limit: 5 });
      const second = await listDeposits(world, { intent, limit: 50, belowMovement: first.at(-1)?.movement_id });
      assert.equal(all.length, 12);
      assert.deepEqual([...first, ...second], all);
      assert.equal(new Set(all.map(({ id }) => id)).size, 12);
    });
  });
}
