import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { sql } from "kysely";
import { countMoney } from "../../test/support/countMoney.ts";
import { openTestDatabase } from "../../test/support/database.ts";
import { openObservedDatabase } from "../../test/support/faultyDatabase.ts";
import { insertAccount, insertIntent, TEST_CHAIN, TEST_TOKEN } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { chainStoringNoBytes, type Refusals } from "../../test/support/storingChain.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { namespaceOf, referenceOf } from "../kernel/caip.ts";
import { listHintedInboxes } from "../view/store.ts";
import { observeSettlements } from "./observe/observeSettlements.ts";
import { planSettlements } from "./planSettlements.ts";
import { replanSettlements } from "./replanSettlements.ts";
import { submitSettlements } from "./submitSettlements.ts";
import { ARRIVALS_READ_MAX } from "./sweep/sweepReads.ts";

const UNITS = 7n;

type Transfers = { direction: "in" | "out"; block: bigint };

/** Records one transfer for each intent, in an own transaction on the chain, under one new revision. */
async function transferEach(db: Db, intents: readonly IntentRow[], { direction, block }: Transfers): Promise<void> {
  const ids = intents.map((intent) => intent.id);
  await sql`
    with head as (update chain_cursor set revision = revision + 1 where chain = ${TEST_CHAIN} returning revision)
    insert into movement (chain, chain_tx, identity, direction, intent_id, inbox, token, counterparty, amount_units, block_number,
      block_hash, place, revision, seen_at)
    select ${TEST_CHAIN}, 'tx' || ${block}::int8 || id, '0', ${direction}, id, inbox_address, payout_token, payout_wallet, ${UNITS},
      ${block}, '0x', 0, head.revision, ${new Date(0)}
    from intent cross join head where id = any(${array(ids, "text")})`.execute(db.root);
}

const payAll = (db: Db, intents: readonly IntentRow[], block: bigint) =>
  transferEach(db, intents, { direction: "in", block });
const sweepAll = (db: Db, intents: readonly IntentRow[], block: bigint) =>
  transferEach(db, intents, { direction: "out", block });

async function insertIntents(db: Db, count: number): Promise<IntentRow[]> {
  const account_id = await insertAccount(db);
  const intents: IntentRow[] = [];
  for (let index = 0; index < count; index += 1) intents.push(await insertIntent(db, { account_id }));
  return intents;
}

async function settle(db: Db): Promise<void> {
  const world = stationWorld(db);
  await processMovements(world, TEST_CHAIN);
  await countMoney(world, TEST_CHAIN);
}

test("planning and observing cost the same number of statements for one settlement and for a hundred", async (context) => {
  let statements = 0;
  const db = await openObservedDatabase(() => (statements += 1));
  context.after(() => db.close());
  const world = stationWorld(db);
  await setHead(db, TEST_CHAIN, { number: 1_000n });
  const countOf = async (run: () => Promise<unknown>) => {
    const before = statements;
    await run();
    return statements - before;
  };
  // The first call creates the station's cursor.
  await observeSettlements(world, TEST_CHAIN);
  const costs: number[][] = [];
  for (const [count, block] of [
    [1, 100n],
    [99, 200n],
  ] as const) {
    const intents = await insertIntents(db, count);
    await payAll(db, intents, block);
    await settle(db);
    const planned = await countOf(() => planSettlements(world, TEST_CHAIN));
    await sweepAll(db, intents, block + 1n);
    costs.push([planned, await countOf(() => observeSettlements(world, TEST_CHAIN))]);
  }
  const landed = await db.root.selectFrom("settlement").select("id").where("status", "=", "landed").execute();
  assert.equal(landed.length, 100);
  assert.deepEqual(costs[1], costs[0]);
});

test("submitting, postponing and replanning cost the same number of statements for one settlement and for a hundred", async (context) => {
  let statements = 0;
  const db = await openObservedDatabase(() => (statements += 1));
  context.after(() => db.close());
  await setHead(db, TEST_CHAIN, { number: 1_000n });
  const world = stationWorld(db);
  const costs: number[][] = [];
  const countOf = async (run: () => Promise<number>, result: number) => {
    const before = statements;
    assert.equal(await run(), result);
    return statements - before;
  };
  const submitWith = (refusals: Refusals) => submitSettlements(world, { chain: chainStoringNoBytes(refusals) });
  for (const [count, block] of [
    [1, 100n],
    [100, 200n],
  ] as const) {
    await payAll(db, await insertIntents(db, count), block);
    await settle(db);
    await planSettlements(world, TEST_CHAIN);
    const postponed = await countOf(() => submitWith(async (items) => items.map(() => "not now")), 0);
    await sql`update settlement set retry_at = null where status in ('planned', 'held')`.execute(db.root);
    const submitted = await countOf(() => submitWith(async (items) => items.map(() => undefined)), count);
    await sql`update outgoing_transaction set status = 'lost', closed_at = now() where status = 'signed'`.execute(
      db.root,
    );
    const replanned = await countOf(() => replanSettlements(world, TEST_CHAIN), count);
    // The next round is not to submit these again.
    await sql`update settlement set status = 'failed', reason = 'over' where status in ('planned', 'held')`.execute(
      db.root,
    );
    costs.push([postponed, submitted, replanned]);
  }
  assert.deepEqual(costs[1], costs[0]);
});

/**
 * Records `count` movements of other intents that both stations have processed, half of them sweeps with settlements.
 */
async function insertHistory(db: Db, count: number): Promise<void> {
  const half = count / 2;
  await db.transaction(async (tx) => {
    // Their intents do not exist: replication mode disables the triggers that require them.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into movement (chain, chain_tx, identity, direction, intent_id, inbox, token, counterparty, amount_units, block_number,
        block_hash, place, revision, seen_at)
      select ${TEST_CHAIN}, direction || n, '0', direction, 'pi_' || n, '0x' || n, ${TEST_TOKEN}, '0x', 7, n / 50, '0x', n, n, ${new Date(0)}
      from generate_series(1, ${half}) n cross join unnest('{in,out}'::text[]) direction order by n, direction`.execute(
      tx,
    );
    await sql`
      insert into settlement (id, intent_id, chain, token, status, gross_units, fee_units, route_cost_units, net_units, chain_tx,
        block_number, created_at, landed_at, updated_at)
      select 'set_' || id, intent_id, chain, token, 'landed', 7, 0, 0, 7, chain_tx, block_number, seen_at, seen_at, seen_at
      from movement where direction = 'out'`.execute(tx);
    await sql`
      insert into deposit (id, movement_id, intent_id, chain, token, token_decimals, sender, amount_units, counted_units, status,
        chain_tx, identity, block_number, block_hash, settlement_id, seen_at, counted_at, updated_at)
      select 'dep_' || id, id, intent_id, chain, token, 6, '0x', 7, 7, 'counted', chain_tx, '0', block_number, '0x', 'set_' || id + 1,
        seen_at, seen_at, seen_at from movement where direction = 'in'`.execute(tx);
    for (const table of ["deposit_cursor", "settlement_cursor"])
      await sql`insert into ${sql.table(table)} select ${TEST_CHAIN}, ${half}, max(id) from movement`.execute(tx);
    await sql`update chain_cursor set revision = ${half}`.execute(tx);
  });
  await sql`analyze`.execute(db.root);
}

/** Counts the rows that transactions read from the road's tables. */
function countRowsRead(db: Db): { db: Db; rowsRead: () => bigint } {
  let sum = 0n;
  const counting: Db = {
    ...db,
    transaction: (run) =>
      db.transaction(async (tx) => {
        const result = await run(tx);
        const { rows } = await sql<{ read: bigint }>`
          select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int8 as read from pg_stat_xact_user_tables
          where relname in ('movement', 'deposit', 'settlement', 'intent', 'event')`.execute(tx);
        sum += rows[0]?.read ?? 0n;
        return result;
      }),
  };
  return { db: counting, rowsRead: () => sum };
}

async function openHistory(context: TestContext, count: number): Promise<Db> {
  const db = await openTestDatabase("postgres");
  context.after(() => db.close());
  await setHead(db, TEST_CHAIN, { number: 1_000_000n });
  await insertHistory(db, count);
  return db;
}

test("an inbox with thirty thousand small transfers is swept without reading them all, and is not compared with them", async (context) => {
  const db = await openHistory(context, 2_000);
  const [intent] = await insertIntents(db, 1);
  assert.ok(intent);
  await sql`
    insert into movement (chain, chain_tx, identity, direction, intent_id, inbox, token, counterparty, amount_units, block_number,
      block_hash, place, revision, seen_at)
    select ${TEST_CHAIN}, 'dust' || n, '0', 'in', ${intent.id}, ${intent.inbox_address}, ${TEST_TOKEN}, '0x', 1, 900000 + n / 100, '0x',
      n, 5000, ${new Date(0)} from generate_series(1, 30000) n`.execute(db.root);
  // They are older than the chain's base depth, so the ledger has booked them.
  await sql`update chain_cursor set revision = 5000, booked_number = 905000`.execute(db.root);
  // Transfers below the minimum of the deposit station have no deposit.
  await sql`update deposit_cursor set revision = 5000, movement_id = (select max(id) from movement)`.execute(db.root);
  await sql`analyze`.execute(db.root);
  await sweepAll(db, [intent], 910_000n);
  const counting = countRowsRead(db);
  await observeSettlements(stationWorld(counting.db), TEST_CHAIN);
  const [landed] = await db.root.selectFrom("settlement").select("status").where("intent_id", "=", intent.id).execute();
  assert.equal(landed?.status, "landed");
  assert.ok(counting.rowsRead() < 2n * BigInt(ARRIVALS_READ_MAX), `${counting.rowsRead()} rows were read`);
  assert.deepEqual(await hintedInboxes(db), []);
});

test("a sweep is compared with the movements into its inbox, whether they have deposits or not", async (context) => {
  const db = await openTestDatabase("postgres");
  context.after(() => db.close());
  await setHead(db, TEST_CHAIN, { number: 1_000n });
  const [whole, short] = await insertIntents(db, 2);
  assert.ok(whole && short);
  await payAll(db, [whole], 100n);
  await recordMovements(db, short, [{ chainTx: "orphaned", amountUnits: UNITS, block: 100n, orphaned: true }]);
  await sql`insert into deposit_cursor select ${TEST_CHAIN}, max(revision), max(id) from movement`.execute(db.root);
  await sweepAll(db, [whole, short], 101n);
  await observeSettlements(stationWorld(db), TEST_CHAIN);
  assert.deepEqual(await hintedInboxes(db), [short.inbox_address]);
});

async function hintedInboxes(db: Db): Promise<string[]> {
  const [namespace, reference] = [namespaceOf(TEST_CHAIN), referenceOf(TEST_CHAIN)];
  const hints = await listHintedInboxes(db, { namespace, reference, after: new Date(0), limit: 10 });
  return hints.map(({ inbox }) => inbox);
}
