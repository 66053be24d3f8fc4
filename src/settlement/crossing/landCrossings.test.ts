import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AWAY,
  HEAD,
  HOME,
  newChainTx,
  newId,
  OTHER,
  USDC,
  useCrossingStations,
} from "../../../test/support/crossingStations.ts";
import { thoroughDatabases } from "../../../test/support/database.ts";
import { randomAddress } from "../../../test/support/intents.ts";
import type { IntentRow } from "../../intent/store.ts";

for (const kind of thoroughDatabases) {
  describe(`settlements across chains on ${kind}`, () => {
    const stations = useCrossingStations(kind);
    const {
      record,
      create,
      settlementsOf,
      intentOf,
      assertChecks,
      work,
      pay,
      bookLatest,
      burn,
      attest,
      minted,
      swept,
    } = stations;

    test("D5 D41 a deposit on another chain counts there, is bridged, and lands with its costs to the unit", async () => {
      const intent = await create();
      await pay(intent, AWAY, 1_000n * USDC);
      await work();
      deepEqual(await settlementsOf(intent), [
        { status: "planned", chain: AWAY, amounts: [null, null, null, null], txs: [] },
      ]);
      equal((await intentOf(intent)).counted_units, 1_000n * USDC);
      const burnTx = await burn(intent, { amountUnits: 1_000n * USDC });
      await work();
      const bridging = {
        status: "bridging",
        chain: AWAY,
        amounts: [null, null, null, null],
        txs: [`${AWAY} ${burnTx}`],
      };
      deepEqual(await settlementsOf(intent), [bridging]);
      await assertChecks();
      const mint = await attest(burnTx, 1);
      const sweepTx = newChainTx();
      await record(intent, [
        minted(mint, [1_000n * USDC, 130_000n], { chainTx: sweepTx }),
        ...swept(intent, 999_870_000n, { chainTx: sweepTx, block: 300n }),
      ]);
      await work();
      const landed = {
        status: "landed",
        chain: AWAY,
        amounts: ["1000000000", "130000", "4999350", "994870650"],
        txs: [`${AWAY} ${burnTx}`, `${HOME} ${sweepTx}`],
      };
      deepEqual(await settlementsOf(intent), [landed]);
      const { counted_units, settled_units, fee_units, net_units } = await intentOf(intent);
      deepEqual(
        [counted_units, settled_units, fee_units, net_units],
        [1_000n * USDC, 1_000n * USDC, 4_999_350n, 994_870_650n],
      );
      await assertChecks();
      // A reorganisation of the settle chain drops the sweep, and it is mined again.
      await record(intent, [
        minted(mint, [1_000n * USDC, 130_000n], { chainTx: sweepTx, orphaned: true }),
        ...swept(intent, 999_870_000n, { chainTx: sweepTx, block: 300n, orphaned: true }),
      ]);
      await work();
      deepEqual(await settlementsOf(intent), [bridging]);
      equal((await intentOf(intent)).settled_units, 0n);
      await record(intent, [
        minted(mint, [1_000n * USDC, 130_000n], { chainTx: sweepTx, block: 301n }),
        ...swept(intent, 999_870_000n, { chainTx: sweepTx, block: 301n }),
      ]);
      await work();
      deepEqual(await settlementsOf(intent), [landed]);
      await assertChecks();
    });

    test("D41 one sweep lands the crossings of two chains and the inbox's own deposit, each with its share", async () => {
      const intent = await create();
      await pay(intent, AWAY, 10n * USDC + 1n);
      await pay(intent, OTHER, 20n * USDC + 1n);
      await pay(intent, HOME, 30n * USDC + 1n);
      const [one, two] = [
        await burn(intent, { amountUnits: 10n * USDC + 1n }),
        await burn(intent, { chain: OTHER, amountUnits: 20n * USDC + 1n }),
      ];
      await work();
      const [mintOne, mintTwo] = [await attest(one, 1), await attest(two, 2)];
      const sweepTx = newChainTx();
      await record(intent, [
        minted(mintOne, [10n * USDC + 1n, 1n], { place: 1 }),
        minted(mintTwo, [20n * USDC + 1n, 0n], { place: 2 }),
        ...swept(intent, 60n * USDC + 2n, { chainTx: sweepTx, block: 301n }),
      ]);
      await work();
      const settlements = (await settlementsOf(intent)).toSorted((a, b) => (a.chain < b.chain ? -1 : 1));
      deepEqual(
        settlements.map(({ status, chain, amounts }) => [status, chain, ...amounts]),
        [
          ["landed", HOME, "30000001", "0", "150001", "29850000"],
          ["landed", AWAY, "10000001", "1", "49999", "9950001"],
          ["landed", OTHER, "20000001", "0", "100000", "19900001"],
        ],
      );
      const { counted_units, settled_units, fee_units } = await intentOf(intent);
      deepEqual([counted_units, settled_units, fee_units], [60n * USDC + 3n, 60n * USDC + 3n, 300_000n]);
      await assertChecks();
    });

    test("D41 a burn that is seen after its mint and its sweep lands at once, and the mint was never a deposit", async () => {
      const intent = await create();
      const mint = `cctp-v2/1/0x${newId()}`;
      const sweepTx = newChainTx();
      await record(intent, [
        minted(mint, [5n * USDC, 0n], {}),
        ...swept(intent, 5n * USDC, { chainTx: sweepTx, block: 301n }),
      ]);
      await work();
      deepEqual(await settlementsOf(intent), []);
      equal((await intentOf(intent)).received_units, 0n);
      await pay(intent, AWAY, 5n * USDC);
      const burnTx = await burn(intent, { amountUnits: 5n * USDC });
      await work();
      await stations.db.root
        .updateTable("crossing")
        .set({ status: "attested", mint })
        .where("chain_tx", "=", burnTx)
        .execute();
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status, amounts }) => [status, ...amounts]),
        [["landed", "5000000", "0", "25000", "4975000"]],
      );
      equal((await intentOf(intent)).settled_units, 5n * USDC);
      await assertChecks();
    });

    test("the fee of a small burn passes the checks before the crossing beside it has landed", async () => {
      const intent = await create();
      await pay(intent, HOME, 1n);
      const mint = `cctp-v2/1/0x${newId()}`;
      const sweepTx = newChainTx();
      await record(intent, [
        minted(mint, [199n, 0n], { chainTx: sweepTx }),
        ...swept(intent, 200n, { chainTx: sweepTx, block: 300n }),
      ]);
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status, amounts }) => [status, ...amounts]),
        [["landed", "1", "0", "1", "0"]],
      );
      await assertChecks();
    });

    test("a second deposit is planned while the first one is on the bridge, and a dropped burn is forgotten", async () => {
      const intent = await create();
      await pay(intent, AWAY, 7n * USDC);
      const burnTx = await burn(intent, { amountUnits: 7n * USDC });
      await work();
      await record(intent, [{ chain: AWAY, chainTx: newChainTx(), amountUnits: 8n * USDC, block: 201n }]);
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["bridging", "planned"],
      );
      await burn(intent, { amountUnits: 7n * USDC, chainTx: burnTx, orphaned: true });
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["failed", "planned"],
      );
      const crossings = await stations.db.root
        .selectFrom("crossing")
        .select("chain_tx")
        .where("intent_id", "=", intent.id)
        .execute();
      deepEqual(crossings, []);
    });

    test("a deposit that a provider omitted until its burn was on the way belongs to this burn's settlement", async () => {
      const intent = await create();
      await pay(intent, AWAY, 3n * USDC);
      await work();
      const burnTx = await burn(intent, { amountUnits: 10n * USDC });
      await work();
      await pay(intent, AWAY, 7n * USDC);
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["bridging"],
      );
      const sweepTx = newChainTx();
      await record(intent, [
        minted(await attest(burnTx, 1), [10n * USDC, 0n], { chainTx: sweepTx }),
        ...swept(intent, 10n * USDC, { chainTx: sweepTx, block: 300n }),
      ]);
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status, amounts }) => [status, ...amounts]),
        [["landed", "10000000", "0", "50000", "9950000"]],
      );
      const { counted_units, settled_units } = await intentOf(intent);
      deepEqual([counted_units, settled_units], [10n * USDC, 10n * USDC]);
      await assertChecks();
    });

    for (const [what, feeLegs] of [
      ["a mint", "with its sweep"],
      ["a mint and a leg of its sweep", "later"],
    ] as const)
      test(`${what} that a provider omitted at first is counted once`, async () => {
        const intent = await create();
        await pay(intent, AWAY, 10n * USDC);
        const burnTx = await burn(intent, { amountUnits: 10n * USDC });
        await work();
        const [sweepTx, mint] = [newChainTx(), await attest(burnTx, 1)];
        const [payout, fee] = swept(intent, 10n * USDC, { chainTx: sweepTx, block: 300n });
        ok(payout !== undefined && fee !== undefined);
        await record(intent, feeLegs === "later" ? [payout] : [payout, fee]);
        await work();
        equal((await intentOf(intent)).settled_units, feeLegs === "later" ? 9_950_000n : 10n * USDC);
        const given = minted(mint, [10n * USDC, 0n], { chainTx: sweepTx });
        await record(intent, feeLegs === "later" ? [given, fee] : [given]);
        await work();
        const states = (await settlementsOf(intent)).map(({ status, chain, amounts }) => [status, chain, ...amounts]);
        deepEqual(states, [
          ["landed", AWAY, "10000000", "0", "50000", "9950000"],
          ["failed", HOME, null, null, null, null],
        ]);
        equal((await intentOf(intent)).settled_units, 10n * USDC);
        await assertChecks();
      });

    describe("when a block of the settle chain is replaced at its height", () => {
      /** Two crossings that landed with one sweep, which a stranger received the second of. */
      async function landTwo() {
        const intent = await create();
        await pay(intent, AWAY, 10n * USDC);
        await pay(intent, OTHER, 20n * USDC);
        const [burnOne, burnTwo] = [
          await burn(intent, { amountUnits: 10n * USDC }),
          await burn(intent, { chain: OTHER, amountUnits: 20n * USDC }),
        ];
        await work();
        const [one, two] = [await attest(burnOne, 1), await attest(burnTwo, 2)];
        const [sweepTx, strangerTx] = [newChainTx(), newChainTx()];
        await record(intent, [
          minted(two, [20n * USDC, 0n], { chainTx: strangerTx, place: 1, block: 301n }),
          minted(one, [10n * USDC, 0n], { chainTx: sweepTx, place: 2, block: 301n }),
          ...swept(intent, 30n * USDC, { chainTx: sweepTx, block: 301n }),
        ]);
        await work();
        deepEqual(await statusesOf(intent), ["landed", "landed"]);
        await assertChecks();
        return { intent, one, two, sweepTx, strangerTx };
      }
      const statusesOf = async (intent: IntentRow) => (await settlementsOf(intent)).map(({ status }) => status);

      test("a crossing whose mint comes behind the sweep now lands with the next one", async () => {
        const { intent, one, two, sweepTx, strangerTx } = await landTwo();
        await record(intent, [
          minted(one, [10n * USDC, 0n], { chainTx: sweepTx, place: 2, block: 301n, fork: "b" }),
          ...swept(intent, 10n * USDC, { chainTx: sweepTx, block: 301n, fork: "b" }),
          minted(two, [20n * USDC, 0n], { chainTx: strangerTx, place: 20, block: 301n, fork: "b" }),
        ]);
        await work();
        deepEqual(await statusesOf(intent), ["landed", "bridging"]);
        equal((await intentOf(intent)).settled_units, 10n * USDC);
        await assertChecks();
        await record(intent, swept(intent, 20n * USDC, { chainTx: newChainTx(), block: 302n }));
        await work();
        deepEqual(await statusesOf(intent), ["landed", "landed"]);
        equal((await intentOf(intent)).settled_units, 30n * USDC);
        await assertChecks();
      });

      test("also when only its mint is recorded again: at a later place, or as gone", async () => {
        for (const changed of [
          { block: 302n, place: 1 },
          { block: 301n, place: 1, orphaned: true },
        ]) {
          const { intent, two, strangerTx } = await landTwo();
          await record(intent, [minted(two, [20n * USDC, 0n], { chainTx: strangerTx, ...changed })]);
          await work();
          deepEqual(await statusesOf(intent), ["landed", "bridging"]);
          // What is recorded again where it was lands again.
          await record(intent, [minted(two, [20n * USDC, 0n], { chainTx: strangerTx, block: 301n, place: 1 })]);
          await work();
          deepEqual(await statusesOf(intent), ["landed", "landed"]);
          await assertChecks();
        }
      });
    });

    test("a settlement is planned again when its own transaction moved only what a bridge gave", async () => {
      const intent = await create();
      const [paid, ownTx] = [newChainTx(), newChainTx()];
      await record(intent, [{ chainTx: paid, amountUnits: 50n * USDC, block: 300n }]);
      await pay(intent, AWAY, 20n * USDC);
      const burnTx = await burn(intent, { amountUnits: 20n * USDC });
      await work();
      const mint = await attest(burnTx, 1);
      const outgoing = await stations.submit(intent);
      // A stranger receives the crossing, and a reorganisation puts the payment behind our transaction.
      await record(intent, [
        minted(mint, [20n * USDC, 0n], { place: 1, block: 301n }),
        ...swept(intent, 20n * USDC, { chainTx: ownTx, block: 302n }),
        { chainTx: paid, amountUnits: 50n * USDC, block: 303n, fork: "b" },
      ]);
      await stations.close(outgoing, { chainTx: ownTx, block: 302n });
      // Until the sweep is applied nobody knows what it landed.
      await stations.replan();
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["bridging", "submitted"],
      );
      await work();
      await stations.replan();
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["landed", "planned"],
      );
    });

    test("a burn may be booked before the settlement station has taken it", async () => {
      const intent = await create();
      await pay(intent, AWAY, 6n * USDC);
      await work();
      await bookLatest(AWAY);
      await burn(intent, { amountUnits: 6n * USDC });
      await bookLatest(AWAY);
      const carried = await stations.db.root
        .selectFrom("ledger_balance")
        .select("balance_units")
        .where("account", "like", "bridge:%")
        .execute();
      deepEqual(carried, [{ balance_units: 6n * USDC }]);
      // What other tests left on the bridge would hide it.
      await stations.db.root.updateTable("chain_cursor").set({ booked_number: HEAD }).execute();
      await stations.db.root
        .updateTable("settlement")
        .set({ status: "failed" })
        .where("status", "=", "bridging")
        .execute();
      await assertChecks();
      await work();
      await assertChecks();
    });

    test("D5 a deposit below the origin's pinned minimum waits, and without a route it is held", async () => {
      const intent = await create();
      await pay(intent, AWAY, 9_999n);
      await record(intent, [
        { chain: AWAY, chainTx: newChainTx(), amountUnits: USDC, block: 100n, token: randomAddress() },
      ]);
      await work();
      equal((await intentOf(intent)).counted_units, 0n);
      await record(intent, [{ chain: AWAY, chainTx: newChainTx(), amountUnits: 1n, block: 101n }]);
      await work();
      equal((await intentOf(intent)).counted_units, 10_000n);
      const held = await stations.db.root
        .selectFrom("deposit")
        .select("reason")
        .where("intent_id", "=", intent.id)
        .where("status", "=", "held")
        .execute();
      deepEqual(held, [{ reason: "no_route" }]);
    });

    test("while a bridge has the price, no dust behind it is burned for itself", async () => {
      const intent = await create({ priceUnits: 20_000_000, oneTime: true });
      await pay(intent, AWAY, 20n * USDC);
      await work();
      await burn(intent, { amountUnits: 20n * USDC });
      await work();
      for (const block of [210n, 220n, 230n]) {
        await record(intent, [{ chain: AWAY, chainTx: newChainTx(), amountUnits: 1n, block }]);
        await work();
      }
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["bridging"],
      );
      await assertChecks();
    });
  });
}
