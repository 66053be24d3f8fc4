import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listEventTypesOf } from "../../test/support/events.ts";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { FEE_RECIPIENT, insertIntent, randomAddress, TEST_CHAIN, TEST_TOKEN } from "../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { namespaceOf, referenceOf } from "../kernel/caip.ts";
import { listHintedInboxes } from "../view/store.ts";
import { observeSettlements } from "./observe/observeSettlements.ts";
import { planSettlements } from "./planSettlements.ts";
import { countMoney } from "../../test/support/countMoney.ts";

let txCount = 0;
const newChainTx = () => `0xaa${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`settlements on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    before(async () => {
      db = await openTestDatabase(kind);
      world = stationWorld(db);
      await setHead(db, TEST_CHAIN, { number: 200n });
    });
    after(() => db.close());

    async function work(): Promise<void> {
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
      await observeSettlements(world, TEST_CHAIN);
      await planSettlements(world, TEST_CHAIN);
    }
    const intentOf = ({ id }: IntentRow) =>
      db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const settlementsOf = ({ id }: IntentRow) =>
      db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute();
    const depositsOf = ({ id }: IntentRow) =>
      db.root.selectFrom("deposit").selectAll().where("intent_id", "=", id).orderBy("seq").execute();
    /** A sweep as the token reports it: the payout first, then the fee. */
    function sweep(
      intent: IntentRow,
      of: { chainTx: string; block: bigint; net: bigint; fee: bigint; orphaned?: boolean },
    ): MovementInput[] {
      const { chainTx, block, orphaned = false } = of;
      const legs: MovementInput[] = [
        {
          chainTx,
          block,
          orphaned,
          direction: "out",
          position: 10,
          counterparty: intent.payout_wallet,
          amountUnits: of.net,
        },
      ];
      if (of.fee > 0n) {
        legs.push({
          chainTx,
          block,
          orphaned,
          direction: "out",
          position: 11,
          counterparty: FEE_RECIPIENT,
          amountUnits: of.fee,
        });
      }
      return legs;
    }
    const deposit = (amountUnits: bigint, block: bigint): MovementInput => ({
      chainTx: newChainTx(),
      amountUnits,
      block,
    });

    test("counted money waits for the chain's configured batching time", async () => {
      const intent = await insertIntent(db);
      await recordMovements(db, intent, [deposit(25_000_000n, 190n)]);
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
      await planSettlements(stationWorld(db, { settleAfterMs: 3_600_000 }), TEST_CHAIN);
      assert.deepEqual(await settlementsOf(intent), []);
      await planSettlements(world, TEST_CHAIN);
      assert.equal((await settlementsOf(intent)).length, 1);
    });

    test("D6 counted money is planned once and lands with the next sweep out of the inbox", async () => {
      const intent = await insertIntent(db, { fee_bps: 50 });
      await recordMovements(db, intent, [deposit(25_000_000n, 190n)]);
      await work();
      await work();
      assert.deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["planned"],
      );
      await recordMovements(
        db,
        intent,
        sweep(intent, { chainTx: newChainTx(), block: 195n, net: 24_875_000n, fee: 125_000n }),
      );
      await work();
      const [landed, ...others] = await settlementsOf(intent);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [landed?.status, landed?.gross_units, landed?.fee_units, landed?.net_units],
        ["landed", 25_000_000n, 125_000n, 24_875_000n],
      );
      const { settled_units, fee_units, net_units } = await intentOf(intent);
      assert.deepEqual([settled_units, fee_units, net_units], [25_000_000n, 125_000n, 24_875_000n]);
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => row.settlement_id),
        [landed?.id],
      );
    });

    test("D7 money that the recovery key sent elsewhere shows as rescued, and is no part of the payout", async () => {
      const intent = await insertIntent(db, { price_units: 70n, price_token_units: 70n, one_time: true });
      const rescue = { chainTx: newChainTx(), block: 202n, direction: "out", position: 3 } as const;
      await recordMovements(db, intent, [
        deposit(70n, 201n),
        { ...rescue, counterparty: randomAddress(), amountUnits: 70n },
      ]);
      await work();
      const [landed, ...others] = await settlementsOf(intent);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [landed?.status, landed?.reason, landed?.gross_units, landed?.fee_units, landed?.net_units],
        ["landed", "rescued", 0n, 0n, 0n],
      );
      const { settled_units, net_units } = await intentOf(intent);
      assert.deepEqual([settled_units, net_units], [0n, 0n]);
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => row.settlement_id),
        [landed?.id],
      );
      await recordMovements(db, intent, [
        { ...rescue, counterparty: randomAddress(), amountUnits: 70n, orphaned: true },
      ]);
      await work();
      assert.deepEqual(
        (await settlementsOf(intent)).map(({ status, reason }) => [status, reason]),
        [["failed", "reorg"]],
      );
    });

    test("a stranger's sweep is a settlement, and takes uncounted deposits too", async () => {
      const intent = await insertIntent(db);
      await recordMovements(db, intent, [
        deposit(5_000_000n, 200n),
        ...sweep(intent, { chainTx: newChainTx(), block: 201n, net: 5_000_000n, fee: 0n }),
      ]);
      await work();
      assert.deepEqual(
        (await settlementsOf(intent)).map(({ status, outgoing_id }) => [status, outgoing_id]),
        [["landed", null]],
      );
      assert.deepEqual(
        (await depositsOf(intent)).map(({ status }) => status),
        ["seen"],
      );
      await setHead(db, TEST_CHAIN, { number: 210n });
      await work();
      assert.deepEqual(
        (await depositsOf(intent)).map(({ status }) => status),
        ["counted"],
      );
      assert.equal((await settlementsOf(intent)).length, 1);
    });

    test("a sweep takes earlier deposits and leaves later ones", async () => {
      const intent = await insertIntent(db);
      const out = { chainTx: newChainTx(), block: 203n, net: 1n, fee: 0n };
      await recordMovements(db, intent, [
        { ...deposit(1n, 203n), position: 2 },
        ...sweep(intent, out),
        { ...deposit(2n, 203n), position: 12 },
      ]);
      await work();
      const [landed] = await settlementsOf(intent);
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => row.settlement_id),
        [landed?.id, null],
      );
      assert.deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["landed", "planned"],
      );
    });

    test("D7 a fee leg that failed on chain leaves everything to the payout", async () => {
      const intent = await insertIntent(db, { fee_bps: 100 });
      await recordMovements(db, intent, [
        deposit(100n, 204n),
        ...sweep(intent, { chainTx: newChainTx(), block: 205n, net: 100n, fee: 0n }),
      ]);
      await work();
      assert.deepEqual(
        (await settlementsOf(intent)).map(({ fee_units, net_units }) => [fee_units, net_units]),
        [[0n, 100n]],
      );
    });

    test("D7 a merchant who is also the fee recipient gets both legs", async () => {
      const intent = await insertIntent(db, { fee_bps: 1000, payout_wallet: FEE_RECIPIENT });
      await recordMovements(db, intent, [
        deposit(100n, 204n),
        ...sweep(intent, { chainTx: newChainTx(), block: 205n, net: 90n, fee: 10n }),
      ]);
      await work();
      assert.deepEqual(
        (await settlementsOf(intent)).map(({ fee_units, net_units }) => [fee_units, net_units]),
        [[10n, 90n]],
      );
    });

    test("a reorg reverts a landed settlement, and the same transaction mined again lands it again", async () => {
      const intent = await insertIntent(db);
      const chainTx = newChainTx();
      await recordMovements(db, intent, [
        deposit(7n, 206n),
        ...sweep(intent, { chainTx, block: 207n, net: 7n, fee: 0n }),
      ]);
      await work();
      assert.equal((await intentOf(intent)).settled_units, 7n);
      await recordMovements(db, intent, sweep(intent, { chainTx, block: 207n, net: 7n, fee: 0n, orphaned: true }));
      await work();
      assert.equal((await intentOf(intent)).settled_units, 0n);
      assert.deepEqual(
        (await settlementsOf(intent)).map(({ status, reason }) => [status, reason]),
        [
          ["failed", "reorg"],
          ["planned", null],
        ],
      );
      await recordMovements(db, intent, sweep(intent, { chainTx, block: 208n, net: 7n, fee: 0n }));
      await work();
      assert.equal((await intentOf(intent)).settled_units, 7n);
      assert.equal((await settlementsOf(intent))[0]?.status, "landed");
      const types = await listEventTypesOf(db, intent.id);
      const settlementEvents = types.filter((type) => type.startsWith("settlement."));
      assert.deepEqual(settlementEvents, ["settlement.landed", "settlement.failed", "settlement.landed"]);
    });

    test("a deposit that is mined again after its sweep goes into the next one", async () => {
      const intent = await insertIntent(db);
      const chainTx = newChainTx();
      const [first, second] = [deposit(5n, 220n), deposit(2n, 220n)];
      await recordMovements(db, intent, [first, second, ...sweep(intent, { chainTx, block: 221n, net: 7n, fee: 0n })]);
      await setHead(db, TEST_CHAIN, { number: 230n });
      await work();
      await recordMovements(db, intent, [
        { ...first, fork: "b" },
        ...sweep(intent, { chainTx, block: 221n, net: 5n, fee: 0n }),
        { ...second, block: 222n, fork: "b" },
      ]);
      await work();
      const [landed, planned] = await settlementsOf(intent);
      assert.deepEqual([landed?.status, landed?.gross_units, planned?.status], ["landed", 5n, "planned"]);
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => row.settlement_id),
        [landed?.id, null],
      );
    });

    test("two sweeps that change places keep their deposits", async () => {
      const intent = await insertIntent(db);
      const [one, other] = [newChainTx(), newChainTx()];
      const [first, second] = [deposit(5n, 230n), deposit(2n, 232n)];
      await recordMovements(db, intent, [
        first,
        second,
        ...sweep(intent, { chainTx: one, block: 231n, net: 5n, fee: 0n }),
        ...sweep(intent, { chainTx: other, block: 233n, net: 2n, fee: 0n }),
      ]);
      await setHead(db, TEST_CHAIN, { number: 240n });
      await work();
      await recordMovements(db, intent, [
        { ...first, fork: "b" },
        { ...second, fork: "b" },
        ...sweep(intent, { chainTx: one, block: 233n, net: 2n, fee: 0n }),
        ...sweep(intent, { chainTx: other, block: 231n, net: 5n, fee: 0n }),
      ]);
      await work();
      const settlements = await settlementsOf(intent);
      const txOf = new Map<string | null, string | null>(settlements.map(({ id, chain_tx }) => [id, chain_tx]));
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => txOf.get(row.settlement_id)),
        [other, one],
      );
      assert.equal((await intentOf(intent)).settled_units, 7n);
    });

    test("a deposit recorded after the sweep that took it belongs to that sweep, and none is planned", async () => {
      const intent = await insertIntent(db);
      await recordMovements(db, intent, [
        deposit(5n, 240n),
        ...sweep(intent, { chainTx: newChainTx(), block: 241n, net: 7n, fee: 0n }),
      ]);
      await setHead(db, TEST_CHAIN, { number: 250n });
      await work();
      await recordMovements(db, intent, [deposit(2n, 240n)]);
      await work();
      const [landed, ...others] = await settlementsOf(intent);
      assert.deepEqual(others, []);
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => row.settlement_id),
        [landed?.id, landed?.id],
      );
    });

    test("an inbox that one transaction sweeps twice is empty, whatever came in between", async () => {
      const intent = await insertIntent(db);
      const chainTx = newChainTx();
      const [leg] = sweep(intent, { chainTx, block: 251n, net: 5n, fee: 0n });
      assert.ok(leg);
      await recordMovements(db, intent, [
        deposit(5n, 250n),
        leg,
        { chainTx, amountUnits: 2n, block: 251n, position: 11 },
        { ...leg, amountUnits: 2n, position: 12 },
      ]);
      await setHead(db, TEST_CHAIN, { number: 260n });
      await work();
      const [landed, ...others] = await settlementsOf(intent);
      assert.deepEqual([landed?.gross_units, others], [7n, []]);
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => row.settlement_id),
        [landed?.id, landed?.id],
      );
    });

    test("an inbox whose sweep took more than its deposits is scanned again, as after a payer's hint", async () => {
      const [whole, short] = [await insertIntent(db), await insertIntent(db)];
      for (const [intent, net] of [
        [whole, 9n],
        [short, 12n],
      ] as const) {
        await recordMovements(db, intent, [deposit(9n, 208n)]);
        await recordMovements(db, intent, sweep(intent, { chainTx: newChainTx(), block: 209n, net, fee: 0n }));
      }
      await work();
      const [namespace, reference] = [namespaceOf(TEST_CHAIN), referenceOf(TEST_CHAIN)];
      const hints = await listHintedInboxes(db, { namespace, reference, after: new Date(0), limit: 10 });
      assert.deepEqual(
        hints
          .filter(({ inbox }) => [whole, short].some(({ inbox_address }) => inbox_address === inbox))
          .map(({ inbox, token }) => [inbox, token]),
        [[short.inbox_address, TEST_TOKEN]],
      );
    });

    test("a sweep is processed only after all earlier deposits", async () => {
      const intent = await insertIntent(db);
      await recordMovements(db, intent, [deposit(9n, 208n)]);
      await recordMovements(db, intent, sweep(intent, { chainTx: newChainTx(), block: 209n, net: 9n, fee: 0n }));
      await observeSettlements(world, TEST_CHAIN);
      assert.deepEqual(await settlementsOf(intent), []);
      await work();
      const [landed] = await settlementsOf(intent);
      assert.deepEqual(
        (await depositsOf(intent)).map((row) => row.settlement_id),
        [landed?.id],
      );
    });

    test("the database enforces that gross equals fee, net and route cost", async () => {
      const intent = await insertIntent(db);
      const wrong = { gross_units: 10n, fee_units: 1n, net_units: 8n, route_cost_units: 0n };
      const at = new Date("2026-11-01T12:00:00Z");
      const row = {
        id: newChainTx(),
        intent_id: intent.id,
        chain: TEST_CHAIN,
        token: randomAddress(),
        created_at: at,
        updated_at: at,
      } as const;
      const rest = { status: "landed", chain_tx: newChainTx(), landed_at: at } as const;
      await assert.rejects(
        db.root
          .insertInto("settlement")
          .values({ ...row, ...rest, ...wrong })
          .execute(),
        /check/,
      );
    });
  });
}
