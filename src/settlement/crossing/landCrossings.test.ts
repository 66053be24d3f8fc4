import { deepEqual, equal } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bridgedChains } from "../../../test/support/bridgedConfig.ts";
import { countMoney } from "../../../test/support/countMoney.ts";
import { openTestDatabase, thoroughDatabases } from "../../../test/support/database.ts";
import { randomAddress } from "../../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../../test/support/stationWorld.ts";
import { buildCatalog } from "../../catalog/catalog.ts";
import type { Db } from "../../db/database.ts";
import { depositChecks } from "../../deposit/checks.ts";
import { processMovements } from "../../deposit/processMovements.ts";
import { createIntent } from "../../intent/createIntent.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { runChecks } from "../../ledger/check.ts";
import { createAccount } from "../../merchant/createAccount.ts";
import type { AccountRow } from "../../merchant/store.ts";
import { bookRevision } from "../../watch/store/bookMovements.ts";
import { observeSettlements } from "../observe/observeSettlements.ts";
import { planSettlements } from "../planSettlements.ts";
import { settlementRecord } from "../settlementRecord.ts";
import { settlementChecks } from "../checks.ts";
import { landCrossings } from "./landCrossings.ts";

const HOME: Caip2 = "eip155:31337";
const AWAY: Caip2 = "eip155:31338";
const OTHER: Caip2 = "eip155:31339";
const FEE_BPS = 50;
const HEAD = 1_000n;
const USDC = 1_000_000n;

let count = 0;
const newId = () => (count += 1).toString(16).padStart(64, "0");
const newChainTx = () => `0xcc${newId().slice(2)}`;

for (const kind of thoroughDatabases) {
  describe(`settlements across chains on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    let account: AccountRow;
    before(async () => {
      db = await openTestDatabase(kind);
      const base = stationWorld(db);
      const config = { ...base.config, chains: bridgedChains() };
      world = { ...base, config, catalog: buildCatalog(config) };
      for (const chain of [HOME, AWAY, OTHER]) await setHead(db, chain, { number: HEAD, finalized: HEAD });
      const payout = {
        namespace: "eip155",
        chainReference: "31337",
        wallet: randomAddress(),
        currency: "USDC",
      } as const;
      account = await createAccount(world, { name: "Bridged", payout, feeBps: FEE_BPS });
    });
    after(() => db.close());

    const create = async () => (await createIntent(db.root, world, { account, input: {} })).intent;
    const settlementsOf = async ({ id }: IntentRow) => {
      const rows = await db.root
        .selectFrom("settlement")
        .selectAll()
        .where("intent_id", "=", id)
        .orderBy("seq")
        .execute();
      return rows.map((row) => {
        const { status, grossUnits, routeCostUnits, feeUnits, netUnits, txs } = settlementRecord(row);
        return {
          status,
          chain: row.chain,
          amounts: [grossUnits, routeCostUnits, feeUnits, netUnits],
          txs: txs.map(({ chain, txHash }) => `${chain} ${txHash}`),
        };
      });
    };
    const intentOf = ({ id }: IntentRow) =>
      db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

    const assertChecks = async () => deepEqual(await runChecks(db, [...settlementChecks, ...depositChecks]), []);

    /** Every station once, on all chains. */
    async function work(): Promise<void> {
      for (const chain of [AWAY, OTHER, HOME]) {
        await processMovements(world, chain);
        await countMoney(world, chain);
        await observeSettlements(world, chain);
        await planSettlements(world, chain);
      }
      while ((await landCrossings(world, HOME)) > 0);
    }
    const pay = (intent: IntentRow, chain: Caip2, amountUnits: bigint) =>
      recordMovements(db, intent, [{ chain, chainTx: newChainTx(), amountUnits, block: 100n }]);

    /** Books the movements that were recorded last on a chain. */
    async function bookLatest(chain: Caip2): Promise<void> {
      await db.transaction(async (tx) => {
        const { revision } = await tx
          .selectFrom("chain_cursor")
          .select("revision")
          .where("chain", "=", chain)
          .executeTakeFirstOrThrow();
        const cursor = { revision, number: HEAD, safeNumber: HEAD, finalizedNumber: HEAD, bookedNumber: HEAD };
        await bookRevision(tx, { chain, cursor, at: world.clock.now() });
      });
    }

    /** The bridge takes the inbox's money on the origin. Returns the burn's transaction. */
    async function burn(
      intent: IntentRow,
      movement: Partial<MovementInput> & { amountUnits: bigint },
    ): Promise<string> {
      const chainTx = movement.chainTx ?? newChainTx();
      const crossing = { explainedBy: "cctp-v2/0", feeUnits: 0n };
      const taken = { chain: AWAY, chainTx, direction: "out" as const, block: 200n, crossing, ...movement };
      await recordMovements(db, intent, [taken]);
      return chainTx;
    }
    /** What the attestation service tells of a burn. Returns the mint's name. */
    async function attest(burnTx: string, domain: number): Promise<string> {
      const mint = `cctp-v2/${domain}/0x${newId()}`;
      await db.root
        .updateTable("crossing")
        .set({ status: "attested", mint, message: "0x", attestation: "0x" })
        .where("chain_tx", "=", burnTx)
        .execute();
      return mint;
    }
    const minted = (
      name: string,
      [units, feeUnits]: [bigint, bigint],
      more: Partial<MovementInput>,
    ): MovementInput => ({
      chainTx: newChainTx(),
      amountUnits: units - feeUnits,
      block: 300n,
      crossing: { explainedBy: name, feeUnits },
      ...more,
    });
    function swept(
      intent: IntentRow,
      gross: bigint,
      more: { chainTx: string; block: bigint; orphaned?: boolean },
    ): MovementInput[] {
      const fee = (gross * BigInt(FEE_BPS)) / 10_000n;
      const out = { direction: "out" as const, ...more };
      return [
        { ...out, position: 10, counterparty: intent.payout_wallet, amountUnits: gross - fee },
        { ...out, position: 11, counterparty: intent.fee_recipient, amountUnits: fee },
      ];
    }

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
      await recordMovements(db, intent, [
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
      await recordMovements(db, intent, [
        minted(mint, [1_000n * USDC, 130_000n], { chainTx: sweepTx, orphaned: true }),
        ...swept(intent, 999_870_000n, { chainTx: sweepTx, block: 300n, orphaned: true }),
      ]);
      await work();
      deepEqual(await settlementsOf(intent), [bridging]);
      equal((await intentOf(intent)).settled_units, 0n);
      await recordMovements(db, intent, [
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
      await recordMovements(db, intent, [
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
      await recordMovements(db, intent, [
        minted(mint, [5n * USDC, 0n], {}),
        ...swept(intent, 5n * USDC, { chainTx: sweepTx, block: 301n }),
      ]);
      await work();
      deepEqual(await settlementsOf(intent), []);
      equal((await intentOf(intent)).received_units, 0n);
      await pay(intent, AWAY, 5n * USDC);
      const burnTx = await burn(intent, { amountUnits: 5n * USDC });
      await work();
      await db.root.updateTable("crossing").set({ status: "attested", mint }).where("chain_tx", "=", burnTx).execute();
      await work();
      deepEqual(
        (await settlementsOf(intent)).map(({ status, amounts }) => [status, ...amounts]),
        [["landed", "5000000", "0", "25000", "4975000"]],
      );
      equal((await intentOf(intent)).settled_units, 5n * USDC);
      await assertChecks();
    });

    test("a second deposit is planned while the first one is on the bridge, and a dropped burn is forgotten", async () => {
      const intent = await create();
      await pay(intent, AWAY, 7n * USDC);
      const burnTx = await burn(intent, { amountUnits: 7n * USDC });
      await work();
      await recordMovements(db, intent, [{ chain: AWAY, chainTx: newChainTx(), amountUnits: 8n * USDC, block: 201n }]);
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
      const crossings = await db.root
        .selectFrom("crossing")
        .select("chain_tx")
        .where("intent_id", "=", intent.id)
        .execute();
      deepEqual(crossings, []);
    });

    test("a burn may be booked before the settlement station has taken it", async () => {
      const intent = await create();
      await pay(intent, AWAY, 6n * USDC);
      await work();
      await bookLatest(AWAY);
      await burn(intent, { amountUnits: 6n * USDC });
      await bookLatest(AWAY);
      const carried = await db.root
        .selectFrom("ledger_balance")
        .select("balance_units")
        .where("account", "like", "bridge:%")
        .execute();
      deepEqual(carried, [{ balance_units: 6n * USDC }]);
      // What other tests left on the bridge would hide it.
      await db.root.updateTable("chain_cursor").set({ booked_number: HEAD }).execute();
      await db.root.updateTable("settlement").set({ status: "failed" }).where("status", "=", "bridging").execute();
      await assertChecks();
      await work();
      await assertChecks();
    });

    test("D5 a deposit below the origin's pinned minimum waits, and without a route it is held", async () => {
      const intent = await create();
      await pay(intent, AWAY, 9_999n);
      await recordMovements(db, intent, [
        { chain: AWAY, chainTx: newChainTx(), amountUnits: USDC, block: 100n, token: randomAddress() },
      ]);
      await work();
      equal((await intentOf(intent)).counted_units, 0n);
      await recordMovements(db, intent, [{ chain: AWAY, chainTx: newChainTx(), amountUnits: 1n, block: 101n }]);
      await work();
      equal((await intentOf(intent)).counted_units, 10_000n);
      const held = await db.root
        .selectFrom("deposit")
        .select("reason")
        .where("intent_id", "=", intent.id)
        .where("status", "=", "held")
        .execute();
      deepEqual(held, [{ reason: "no_route" }]);
    });

    test("two burns of an inbox in one transaction delay no other crossing", async () => {
      const intent = await create();
      const other = await create();
      await pay(intent, AWAY, 6n * USDC);
      await pay(other, AWAY, 9n * USDC);
      await work();
      const burnTx = newChainTx();
      const taken = { chain: AWAY, chainTx: burnTx, block: 200n };
      const out = { ...taken, direction: "out" as const, amountUnits: 6n * USDC };
      const crossing = { explainedBy: "cctp-v2/0", feeUnits: 0n };
      await recordMovements(db, intent, [
        { ...out, position: 0, place: 10, crossing },
        { ...taken, position: 1, place: 11, amountUnits: 6n * USDC },
        { ...out, position: 2, place: 12, crossing },
      ]);
      const otherBurn = await burn(other, { amountUnits: 9n * USDC });
      await work();
      const burns = await db.root
        .selectFrom("crossing")
        .select("movement_id")
        .where("chain_tx", "=", burnTx)
        .orderBy("movement_id")
        .execute();
      const mints = burns.map(() => `cctp-v2/1/0x${newId()}`);
      for (const [index, { movement_id: id }] of burns.entries())
        await db.root
          .updateTable("crossing")
          .set({ status: "attested", mint: mints[index] ?? "" })
          .where("movement_id", "=", id)
          .execute();
      for (const [index, mint] of mints.entries()) {
        const at = { block: 310n + BigInt(index) };
        await recordMovements(db, intent, [
          minted(mint, [6n * USDC, 1_000n], at),
          ...swept(intent, 6n * USDC - 1_000n, { chainTx: newChainTx(), ...at }),
        ]);
      }
      const otherMint = await attest(otherBurn, 1);
      await recordMovements(db, other, [
        minted(otherMint, [9n * USDC, 0n], {}),
        ...swept(other, 9n * USDC, { chainTx: newChainTx(), block: 301n }),
      ]);
      await work();
      deepEqual(
        (await settlementsOf(other)).map(({ status, amounts }) => [status, ...amounts]),
        [["landed", "9000000", "0", "45000", "8955000"]],
      );
      deepEqual(
        (await settlementsOf(intent)).map(({ status }) => status),
        ["bridging"],
      );
      await assertChecks();
    });
  });
}
