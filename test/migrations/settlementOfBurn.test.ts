import { deepEqual } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql, type Kysely } from "kysely";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Db } from "../../src/db/database.ts";
import { up } from "../../src/db/migrations/0028_settlement_of_burn.ts";
import { depositChecks } from "../../src/deposit/checks.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import { runChecks } from "../../src/ledger/check.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { settlementChecks } from "../../src/settlement/checks.ts";
import { landCrossings } from "../../src/settlement/crossing/landCrossings.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { bridgedChains } from "../support/bridgedConfig.ts";
import { countMoney } from "../support/countMoney.ts";
import { databases, openTestDatabase } from "../support/database.ts";
import { randomAddress } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import { stationWorld, type StationWorld } from "../support/stationWorld.ts";

// Settlements of a version that had one settlement for all burns of an inbox in a transaction.

const HOME: Caip2 = "eip155:31337";
const AWAY: Caip2 = "eip155:31338";
const USDC = 1_000_000n;

const chainTx = (digits: string) => `0x${digits.padStart(64, "0")}`;

for (const kind of databases) {
  describe(`settlements of burns at migration 0027 on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    before(async () => {
      db = await openTestDatabase(kind);
      const base = stationWorld(db);
      const config = { ...base.config, chains: bridgedChains() };
      world = { ...base, config, catalog: buildCatalog(config) };
      for (const chain of [HOME, AWAY]) await setHead(db, chain, { number: 1_000n, finalized: 1_000n });
    });
    after(() => db.close());

    async function work(): Promise<void> {
      for (const chain of [AWAY, HOME]) {
        await processMovements(world, chain);
        await countMoney(world, chain);
        await observeSettlements(world, chain);
        await planSettlements(world, chain);
      }
      await landCrossings(world, HOME);
    }

    test("a settlement keeps the first burn of its transaction, and the others get settlements that land", async () => {
      const payout = {
        namespace: "eip155",
        chainReference: "31337",
        wallet: randomAddress(),
        currency: "USDC",
      } as const;
      const account = await createAccount(world, { name: "Bridged", payout, feeBps: 50 });
      const { intent } = await createIntent(db.root, world, { account, input: {} });
      const paid = { chain: AWAY, chainTx: chainTx("1"), amountUnits: 6n * USDC, block: 100n };
      await recordMovements(db, intent, [paid]);
      await work();
      const at = { chain: AWAY, chainTx: chainTx("2"), block: 200n };
      const taken = { ...at, direction: "out" as const, crossing: { explainedBy: "cctp-v2/0", feeUnits: 0n } };
      await recordMovements(db, intent, [
        { ...taken, position: 0, place: 10, amountUnits: 6n * USDC },
        { ...at, position: 1, place: 11, amountUnits: 4n * USDC },
        { ...taken, position: 2, place: 12, amountUnits: 4n * USDC },
      ]);
      await work();
      await restoreEarlierSchema(db);
      await db.transaction((tx) => up(tx as unknown as Kysely<unknown>));
      const burns = () =>
        db.root
          .selectFrom("settlement")
          .leftJoin("crossing", "crossing.movement_id", "settlement.burn_id")
          .select(["settlement.status", "crossing.units"])
          .orderBy("settlement.seq")
          .execute();
      deepEqual(await burns(), [{ status: "bridging", units: 6n * USDC }]);
      await work();
      deepEqual(await burns(), [
        { status: "bridging", units: 6n * USDC },
        { status: "bridging", units: 4n * USDC },
      ]);
      deepEqual(await db.root.selectFrom("quarantine").selectAll().execute(), []);
      deepEqual(await runChecks(db, [...settlementChecks, ...depositChecks]), []);
      for (const [index, units] of [6n * USDC, 4n * USDC].entries()) {
        const mint = `cctp-v2/1/${chainTx(String(index))}`;
        await db.root.updateTable("crossing").set({ status: "attested", mint }).where("units", "=", units).execute();
        const landing = { chainTx: chainTx(`a${index}`), block: 300n + BigInt(index) };
        const fee = units / 200n;
        await recordMovements(db, intent, [
          { ...landing, amountUnits: units, crossing: { explainedBy: mint, feeUnits: 0n } },
          {
            ...landing,
            direction: "out",
            position: 10,
            counterparty: intent.payout_wallet,
            amountUnits: units - fee,
          },
          { ...landing, direction: "out", position: 11, counterparty: intent.fee_recipient, amountUnits: fee },
        ]);
      }
      await work();
      deepEqual(
        (await burns()).map(({ status }) => status),
        ["landed", "landed"],
      );
      deepEqual(await runChecks(db, [...settlementChecks, ...depositChecks]), []);
    });
  });
}

/** Takes the migration back, with the one settlement that the earlier version had. */
async function restoreEarlierSchema(db: Db): Promise<void> {
  for (const statement of [
    `update deposit set settlement_id = (select min(id) from settlement where seq = (select min(seq) from settlement))`,
    `delete from event where 'set_' || (content ->> 0) in (
      select id from settlement where seq > (select min(seq) from settlement))`,
    `delete from settlement where seq > (select min(seq) from settlement)`,
    `alter table settlement drop column burn_id cascade`,
    `alter table settlement add constraint settlement_bridges_by_transaction check (status <> 'bridging' or chain_tx is not null)`,
    `create unique index settlement_chain_tx on settlement (chain, chain_tx, intent_id, token) where chain_tx is not null`,
    `create index crossing_of_settlement on crossing (chain, chain_tx, intent_id, token)`,
  ])
    await sql.raw(statement).execute(db.root);
}
