import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { countMoney } from "../../test/support/countMoney.ts";
import { openTestDatabase, thoroughDatabase } from "../../test/support/database.ts";
import { insertIntent } from "../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../test/support/movements.ts";
import {
  CLUSTER,
  MINT,
  OTHER_MINT,
  SOLANA_CHAIN_CONFIG,
  SOLANA_FEE_WALLET,
  SOLANA_WALLET,
} from "../../test/support/solanaConfig.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import { buildCatalog } from "../catalog/catalog.ts";
import type { Db } from "../db/database.ts";
import { depositTotalsCheck } from "../deposit/checks.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { runChecks } from "../ledger/check.ts";
import { settlementChecks } from "./checks.ts";
import { observeSettlements } from "./observe/observeSettlements.ts";
import { planSettlements } from "./planSettlements.ts";

// Movements on Solana name owners: the payout wallet and the fee wallet, never their token accounts. Addresses keep
// their letter case.

const CHAIN = SOLANA_CHAIN_CONFIG.caip2;
/** Slots: the first is final, the second is not. */
const [FINAL, OPEN] = [150n, 190n];

let db: Db;
let world: StationWorld;

before(async () => {
  db = await openTestDatabase(thoroughDatabase);
  const base = stationWorld(db);
  const config = { ...base.config, chains: [...base.config.chains, SOLANA_CHAIN_CONFIG] };
  world = { ...base, config, catalog: buildCatalog(config) };
  await setHead(db, CHAIN, { number: 200n, safe: 200n, finalized: 160n });
});
after(() => db.close());

async function work(): Promise<void> {
  await processMovements(world, CHAIN);
  await countMoney(world, CHAIN);
  await observeSettlements(world, CHAIN);
  await planSettlements(world, CHAIN);
}

function insertSolanaIntent(feeBps = 50): Promise<IntentRow> {
  return insertIntent(db, {
    payout_namespace: "solana",
    payout_chain_reference: CLUSTER,
    payout_wallet: SOLANA_WALLET,
    payout_token: MINT,
    fee_bps: feeBps,
  });
}

let transactions = 0;
const newSignature = () => `5sig${(transactions += 1)}`;

function leg(chainTx: string, counterparty: string, of: { units: bigint; position: number }): MovementInput {
  return { chainTx, block: FINAL, direction: "out", counterparty, amountUnits: of.units, position: of.position };
}

const intentOf = ({ id }: IntentRow) =>
  db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const settlementsOf = ({ id }: IntentRow) =>
  db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).execute();

test("a deposit on Solana counts when it is finalized, and lands with what wallet and fee wallet received", async () => {
  const intent = await insertSolanaIntent();
  await recordMovements(db, intent, [
    { chainTx: newSignature(), block: FINAL, amountUnits: 25_000_000n },
    { chainTx: newSignature(), block: OPEN, amountUnits: 5_000_000n },
  ]);
  await work();
  const counted = await intentOf(intent);
  assert.deepEqual([counted.received_units, counted.counted_units], [30_000_000n, 25_000_000n]);
  assert.deepEqual(
    (await settlementsOf(intent)).map(({ status, chain, token }) => [status, chain, token]),
    [["planned", CHAIN, MINT]],
  );
  const chainTx = newSignature();
  await recordMovements(db, intent, [
    leg(chainTx, SOLANA_WALLET, { units: 24_875_000n, position: 1 }),
    leg(chainTx, SOLANA_FEE_WALLET, { units: 125_000n, position: 2 }),
  ]);
  await work();
  const [landed] = await settlementsOf(intent);
  assert.deepEqual(
    [landed?.status, landed?.gross_units, landed?.fee_units, landed?.net_units, landed?.reason],
    ["landed", 25_000_000n, 125_000n, 24_875_000n, null],
  );
  const { settled_units, fee_units, net_units } = await intentOf(intent);
  assert.deepEqual([settled_units, fee_units, net_units], [25_000_000n, 125_000n, 24_875_000n]);
});

test("a forfeited fee lands without one, and what went elsewhere is rescued", async () => {
  const [forfeited, rescued] = [await insertSolanaIntent(), await insertSolanaIntent()];
  const [first, second] = [newSignature(), newSignature()];
  const elsewhere = deriveTokenAccount(SOLANA_WALLET, MINT, tokenProgram).address;
  for (const intent of [forfeited, rescued])
    await recordMovements(db, intent, [{ chainTx: newSignature(), block: FINAL, amountUnits: 1_000_000n }]);
  await work();
  await recordMovements(db, forfeited, [leg(first, SOLANA_WALLET, { units: 1_000_000n, position: 1 })]);
  await recordMovements(db, rescued, [leg(second, elsewhere, { units: 1_000_000n, position: 1 })]);
  await work();
  const [[one], [other]] = [await settlementsOf(forfeited), await settlementsOf(rescued)];
  assert.deepEqual([one?.fee_units, one?.net_units, one?.reason], [0n, 1_000_000n, null]);
  assert.deepEqual([other?.gross_units, other?.net_units, other?.reason], [0n, 0n, "rescued"]);
});

test("another mint of the cluster has no route to the payout, and is not settled", async () => {
  const intent = await insertSolanaIntent();
  const stray = { chainTx: newSignature(), block: FINAL, amountUnits: 7_000_000n, token: OTHER_MINT };
  await recordMovements(db, intent, [stray]);
  await work();
  const deposits = db.root.selectFrom("deposit").select(["status", "reason"]).where("intent_id", "=", intent.id);
  assert.deepEqual(await deposits.execute(), [{ status: "held", reason: "no_route" }]);
  assert.deepEqual(await settlementsOf(intent), []);
});

test("the checks of deposits and settlements hold for payouts on Solana", async () => {
  assert.deepEqual(await runChecks(db, [depositTotalsCheck, ...settlementChecks]), []);
});
