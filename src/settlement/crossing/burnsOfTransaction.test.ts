import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { AWAY, HOME, newChainTx, newId, USDC, useCrossingStations } from "../../../test/support/crossingStations.ts";
import { thoroughDatabases } from "../../../test/support/database.ts";
import type { IntentRow } from "../../intent/store.ts";

// Anybody can bridge an inbox, pay it again and bridge it again within one transaction.

for (const kind of thoroughDatabases) {
  describe(`several burns of an inbox in one transaction on ${kind}`, () => {
    const stations = useCrossingStations(kind);
    const { record, create, settlementsOf, intentOf, assertChecks, work, pay, burn, attest, minted, swept } = stations;

    /** A transaction that burns, pays again and burns again. */
    function burnTwice(intent: IntentRow, burnTx: string, more: { orphaned?: boolean } = {}): Promise<void> {
      const at = { chain: AWAY, chainTx: burnTx, block: 200n, ...more };
      const taken = { ...at, direction: "out" as const, crossing: { crossingName: "cctp-v2/0", feeUnits: 0n } };
      return record(intent, [
        { ...taken, position: 0, place: 10, amountUnits: 6n * USDC },
        { ...at, position: 1, place: 11, amountUnits: 4n * USDC },
        { ...taken, position: 2, place: 12, amountUnits: 4n * USDC },
      ]);
    }
    const burnsOf = (chainTx: string) =>
      stations.db.root
        .selectFrom("crossing")
        .selectAll()
        .where("chain_tx", "=", chainTx)
        .orderBy("movement_id")
        .execute();

    /** The bridge proves each burn of a transaction. Returns the names of the mints. */
    async function attestAll(burnTx: string): Promise<string[]> {
      const mints: string[] = [];
      for (const { movement_id: id } of await burnsOf(burnTx)) {
        const mint = `cctp-v2/1/0x${newId()}`;
        await stations.db.root
          .updateTable("crossing")
          .set({ status: "attested", mint })
          .where("movement_id", "=", id)
          .execute();
        mints.push(mint);
      }
      return mints;
    }
    const depositsOf = ({ id }: IntentRow) =>
      stations.db.root
        .selectFrom("deposit")
        .leftJoin("settlement", "settlement.id", "deposit.settlement_id")
        .select(["deposit.amount_units as units", "settlement.gross_units as gross", "settlement.status"])
        .where("deposit.intent_id", "=", id)
        .orderBy("deposit.movement_id")
        .execute();

    test("each burn of an inbox in one transaction is a settlement, and lands with its own mint and its own cost", async () => {
      const intent = await create();
      await pay(intent, AWAY, 6n * USDC);
      await work();
      const burnTx = newChainTx();
      await burnTwice(intent, burnTx);
      await work();
      const statuses = async () => (await settlementsOf(intent)).map(({ status }) => status);
      deepEqual(await statuses(), ["bridging", "bridging"]);
      await assertChecks();
      const [first, second] = await attestAll(burnTx);
      ok(first !== undefined && second !== undefined);
      const [oneTx, otherTx] = [newChainTx(), newChainTx()];
      await record(intent, [
        minted(second, [4n * USDC, 1_000n], { block: 310n }),
        ...swept(intent, 4n * USDC - 1_000n, { chainTx: otherTx, block: 310n }),
      ]);
      await work();
      deepEqual(await statuses(), ["bridging", "landed"], "the mint of the second burn lands the second one alone");
      await assertChecks();
      await record(intent, [
        minted(first, [6n * USDC, 0n], { block: 311n }),
        ...swept(intent, 6n * USDC, { chainTx: oneTx, block: 311n }),
      ]);
      await work();
      deepEqual(await settlementsOf(intent), [
        {
          status: "landed",
          chain: AWAY,
          amounts: ["6000000", "0", "30000", "5970000"],
          txs: [`${AWAY} ${burnTx}`, `${HOME} ${oneTx}`],
        },
        {
          status: "landed",
          chain: AWAY,
          amounts: ["4000000", "1000", "19995", "3979005"],
          txs: [`${AWAY} ${burnTx}`, `${HOME} ${otherTx}`],
        },
      ]);
      deepEqual(await depositsOf(intent), [
        { units: 6n * USDC, gross: 6n * USDC, status: "landed" },
        { units: 4n * USDC, gross: 4n * USDC, status: "landed" },
      ]);
      const { counted_units, settled_units } = await intentOf(intent);
      deepEqual([counted_units, settled_units], [10n * USDC, 10n * USDC]);
      await assertChecks();
    });

    test("one sweep lands both burns of a transaction, and a reorganisation takes both back", async () => {
      const intent = await create();
      await pay(intent, AWAY, 6n * USDC);
      await work();
      const burnTx = newChainTx();
      await burnTwice(intent, burnTx);
      await work();
      const [first = "", second = ""] = await attestAll(burnTx);
      const sweepTx = newChainTx();
      const land = (more: { orphaned?: boolean }, block = 310n) =>
        record(intent, [
          minted(first, [6n * USDC, 0n], { chainTx: sweepTx, position: 1, place: 1, block, ...more }),
          minted(second, [4n * USDC, 1_000n], { chainTx: sweepTx, position: 2, place: 2, block, ...more }),
          ...swept(intent, 10n * USDC - 1_000n, { chainTx: sweepTx, block, ...more }),
        ]);
      const states = async () => (await settlementsOf(intent)).map(({ status, amounts }) => [status, ...amounts]);
      const landed = [
        ["landed", "6000000", "0", "30000", "5970000"],
        ["landed", "4000000", "1000", "19995", "3979005"],
      ];
      await land({});
      await work();
      deepEqual(await states(), landed);
      await assertChecks();
      await land({ orphaned: true });
      await work();
      const bridging = ["bridging", null, null, null, null];
      deepEqual(await states(), [bridging, bridging]);
      deepEqual(
        (await burnsOf(burnTx)).map(({ status }) => status),
        ["attested", "attested"],
      );
      await assertChecks();
      await land({}, 311n);
      await work();
      deepEqual(await states(), landed);
      await assertChecks();
    });

    test("a transaction with two burns that a reorganisation drops takes both crossings along, and brings both again", async () => {
      const intent = await create();
      await pay(intent, AWAY, 6n * USDC);
      await work();
      const burnTx = newChainTx();
      await burnTwice(intent, burnTx);
      await work();
      await burnTwice(intent, burnTx, { orphaned: true });
      await work();
      const statuses = async () => (await settlementsOf(intent)).map(({ status }) => status);
      deepEqual(await statuses(), ["failed", "failed", "planned"]);
      deepEqual(await burnsOf(burnTx), []);
      await assertChecks();
      await burnTwice(intent, burnTx);
      await work();
      deepEqual((await statuses()).slice(0, 2), ["bridging", "bridging"]);
      deepEqual(
        (await burnsOf(burnTx)).map(({ units }) => units),
        [6n * USDC, 4n * USDC],
      );
      await assertChecks();
    });

    test("a first burn that a provider omitted gets its settlement, and the second keeps its own", async () => {
      const intent = await create();
      await pay(intent, AWAY, 6n * USDC);
      await work();
      const burnTx = newChainTx();
      const taken = {
        chain: AWAY,
        chainTx: burnTx,
        direction: "out" as const,
        block: 200n,
        crossing: { crossingName: "cctp-v2/0", feeUnits: 0n },
      };
      const again = { chain: AWAY, chainTx: burnTx, block: 200n, position: 1, place: 11, amountUnits: 4n * USDC };
      await record(intent, [again, { ...taken, position: 2, place: 12, amountUnits: 4n * USDC }]);
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["bridging", "planned"],
        "as if the burn had left what the omitted one took",
      );
      const [known] = await burnsOf(burnTx);
      await record(intent, [{ ...taken, position: 0, place: 10, amountUnits: 6n * USDC }]);
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["bridging", "bridging"],
      );
      const settlements = await stations.db.root
        .selectFrom("settlement")
        .innerJoin("crossing", "crossing.movement_id", "settlement.burn_id")
        .select(["settlement.burn_id", "crossing.units"])
        .where("settlement.intent_id", "=", intent.id)
        .orderBy("settlement.seq")
        .execute();
      deepEqual(
        settlements.map(({ units }) => units),
        [4n * USDC, 6n * USDC],
      );
      equal(settlements[0]?.burn_id, known?.movement_id);
      const swept = await stations.db.root
        .selectFrom("deposit")
        .innerJoin("settlement", "settlement.id", "deposit.settlement_id")
        .innerJoin("crossing", "crossing.movement_id", "settlement.burn_id")
        .select(["deposit.amount_units as deposited", "crossing.units as burnt"])
        .where("deposit.intent_id", "=", intent.id)
        .orderBy("deposit.movement_id")
        .execute();
      deepEqual(swept, [
        { deposited: 6n * USDC, burnt: 6n * USDC },
        { deposited: 4n * USDC, burnt: 4n * USDC },
      ]);
      await assertChecks();
    });

    test("an inbox that one transaction of the settle chain settled twice has one settlement, beside those of the bridge", async () => {
      const intent = await create();
      await pay(intent, AWAY, 6n * USDC);
      await pay(intent, HOME, 2n * USDC);
      const burnTx = await burn(intent, { amountUnits: 6n * USDC });
      await work();
      const mint = await attest(burnTx, 1);
      const sweepTx = newChainTx();
      const [before, after] = swept(intent, 2n * USDC, { chainTx: sweepTx, block: 310n });
      const later = swept(intent, 6n * USDC, { chainTx: sweepTx, block: 310n });
      ok(before !== undefined && after !== undefined);
      await record(intent, [
        { ...before, position: 1, place: 1 },
        { ...after, position: 2, place: 2 },
        minted(mint, [6n * USDC, 0n], { chainTx: sweepTx, position: 3, place: 3, block: 310n }),
        ...later,
      ]);
      await work();
      const states = (await settlementsOf(intent)).map(({ status, chain, amounts }) => [status, chain, ...amounts]);
      deepEqual(
        states.toSorted((one, other) => (String(one) < String(other) ? -1 : 1)),
        [
          ["landed", HOME, "2000000", "0", "10000", "1990000"],
          ["landed", AWAY, "6000000", "0", "30000", "5970000"],
        ],
      );
      await assertChecks();
    });
  });
}
