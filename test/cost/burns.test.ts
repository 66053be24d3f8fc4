import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { sql } from "kysely";
import { findBurns } from "../../src/bridge/findBurns.ts";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import {
  claimUnmatchedMint,
  postponeUnmatchedMints,
  writeBurnSearch,
} from "../../src/watch/store/unmatchedMintStore.ts";
import { bridgedChains } from "../support/bridgedConfig.ts";
import { countMoney } from "../support/countMoney.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { randomAddress } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { stationWorld, type StationWorld } from "../support/stationWorld.ts";
import { recordStatements, type StatementLog } from "./recordStatements.ts";
import { isExcessive } from "./statementCost.ts";

// Burns of an inbox and mints without a burn cost their own work, however many there were before.

const AWAY: Caip2 = "eip155:31338";
const HOME: Caip2 = "eip155:31337";
const HEAD = 100_000n;
const PAST = 10_000;
const USDC = 1_000_000n;
const BRIDGE = "cctp-v2/1";
const BURN = { crossingName: "cctp-v2/0", feeUnits: 0n };

let server: PostgresServer;
before(async () => {
  server = await startOwnServer();
});
after(() => server.remove());

type BurnWorld = { db: Db; world: StationWorld; intent: IntentRow; log: StatementLog };

/** A world with one inbox that `PAST` deposits and as many burns have passed. */
async function openBurnWorld(context: TestContext, name: string): Promise<BurnWorld> {
  const url = await createDatabaseOn(server, name);
  const first = await openDatabase({ url, allowUnsafeFsync: true });
  const worldOf = (db: Db): StationWorld => {
    const base = stationWorld(db);
    const config = { ...base.config, chains: bridgedChains() };
    return { ...base, config, catalog: buildCatalog(config) };
  };
  for (const chain of [HOME, AWAY] as const) await setHead(first, chain, { number: HEAD, finalized: HEAD });
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  const world = worldOf(first);
  const account = await createAccount(world, { name: "Bridged", payout, feeBps: 50 });
  const { intent } = await createIntent(first.root, world, { account, input: {} });
  for (const chain of [HOME, AWAY] as const) {
    await processMovements(world, chain);
    await observeSettlements(world, chain);
  }
  await insertPast(first, intent);
  await sql`vacuum (analyze)`.execute(first.root);
  await first.close();
  const log = await recordStatements(server, name);
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  context.after(() => db.close());
  return { db, world: worldOf(db), intent, log };
}

/**
 * Each past deposit crossed alone, is booked, and both cursors have passed it. Each mint on the settle chain waits for
 * its burn.
 */
async function insertPast(db: Db, intent: IntentRow): Promise<void> {
  await db.transaction(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    const inserted = sql`insert into movement (chain, chain_tx, identity, direction, intent_id, inbox, token, counterparty, amount_units,
      block_number, block_hash, place, revision, explained_by, bridge_fee_units, seen_at)`;
    await sql`
      ${inserted}
      select ${AWAY}, direction || n, '0', direction, ${intent.id}, ${intent.inbox_address}, ${intent.payout_token}, '0x', 5000000,
        n * 2 + (direction = 'out')::int, '0x', n, n, case direction when 'out' then 'cctp-v2/0' end,
        case direction when 'out' then 0 end, now() - interval '1 day'
      from generate_series(1, ${PAST}::int) as n cross join unnest('{in,out}'::text[]) as direction order by n, direction`.execute(
      tx,
    );
    await sql`
      ${inserted}
      select ${HOME}, 'mint' || n, '0', 'in', ${intent.id}, ${intent.inbox_address}, ${intent.payout_token}, '0x', 5000000, n, '0x', n, n,
        'cctp-v2/1/' || n, 0, now() - interval '1 day'
      from generate_series(1, ${PAST}::int) as n`.execute(tx);
    await sql`
      insert into settlement (id, intent_id, chain, token, status, gross_units, fee_units, route_cost_units, net_units, chain_tx, burn_id,
        block_number, created_at, landed_at, landed_chain, landed_chain_tx, landed_block_number, updated_at)
      select 'set_' || id, intent_id, chain, token, 'landed', 5000000, 0, 0, 5000000, chain_tx, id, block_number, seen_at, seen_at,
        ${HOME}, 'landed' || id, 1, seen_at
      from movement where chain = ${AWAY} and direction = 'out'`.execute(tx);
    await sql`
      insert into crossing (movement_id, intent_id, chain, chain_tx, proof_tx, token, units, bridge, settle_chain, status, mint, status_since,
        created_at, updated_at)
      select id, intent_id, chain, chain_tx, chain_tx, token, amount_units, 'cctp-v2/0', ${HOME}, 'landed', 'cctp-v2/1/burnt' || id, seen_at, seen_at,
        seen_at
      from movement where chain = ${AWAY} and direction = 'out'`.execute(tx);
    await sql`
      insert into deposit (id, movement_id, intent_id, chain, token, token_decimals, sender, amount_units, counted_units, status, chain_tx,
        identity, block_number, block_hash, settlement_id, seen_at, counted_at, updated_at)
      select 'dep_' || id, id, intent_id, chain, token, 6, '0x', 5000000, 5000000, 'counted', chain_tx, '0', block_number, '0x',
        'set_' || id + 1, seen_at, seen_at, seen_at
      from movement where chain = ${AWAY} and direction = 'in'`.execute(tx);
    await sql`
      insert into awaited_burn (mint_id, settle_chain, bridge, next_at, unexplained_since)
      select id, chain, ${BRIDGE}, now() + interval '50 minutes', now() from movement where chain = ${HOME}`.execute(
      tx,
    );
    for (const table of ["deposit_cursor", "settlement_cursor"])
      await sql`
        insert into ${sql.table(table)} (chain, revision, movement_id) select chain, max(revision), max(id) from movement group by chain
        on conflict (chain) do update set revision = excluded.revision, movement_id = excluded.movement_id`.execute(tx);
    await sql`update chain_cursor set revision = ${PAST}, booked_number = ${BigInt(PAST) * 2n + 1n}`.execute(tx);
  });
}

async function assertCheap(log: StatementLog, pattern: RegExp, countMin: number): Promise<void> {
  const statements = (await log.take()).filter(({ text }) => pattern.test(text));
  assert.ok(statements.length >= countMin, `${statements.length} statements`);
  for (const { text, cost } of statements)
    assert.ok(!isExcessive(cost), `${cost.readRows} rows, ${cost.pages} pages: ${text}`);
}

test("an inbox with a long past is burnt in pieces, and what each leaves is found without reading that past", async (context) => {
  const { db, world, intent, log } = await openBurnWorld(context, "rests");
  const { token } = await db.root.selectFrom("movement").select("token").executeTakeFirstOrThrow();
  const work = async () => {
    await processMovements(world, AWAY);
    await countMoney(world, AWAY);
    await observeSettlements(world, AWAY);
    await planSettlements(world, AWAY);
  };
  const block = BigInt(PAST) * 2n + 10n;
  await recordMovements(db, intent, [{ chain: AWAY, token, chainTx: "paid", amountUnits: 25n * USDC, block }]);
  await work();
  for (const [piece, expected] of [15_000_000n, 5_000_000n].entries()) {
    const burnt = { chain: AWAY, token, chainTx: `piece${piece}`, amountUnits: 10n * USDC, direction: "out" as const };
    await recordMovements(db, intent, [{ ...burnt, block: block + 2n + BigInt(piece), crossing: BURN }]);
    await work();
    const { rows } = await sql<{ units: bigint }>`
      select unswept_units as units from holding where intent_id = ${intent.id} and chain = ${AWAY}`.execute(db.root);
    assert.deepEqual(rows, [{ units: expected }]);
  }
  // Found after the burns, so what they left is another sum.
  await recordMovements(db, intent, [
    { chain: AWAY, token, chainTx: "late", amountUnits: 3n * USDC, block: block + 1n },
  ]);
  await work();
  const open = await db.root.selectFrom("settlement").select("status").where("status", "=", "planned").execute();
  assert.equal(open.length, 1);
  await assertCheap(log, /\brest_|\bholding\b|\bprevious\b/, 20);
});

test("mints that wait for their burns are matched and searched in the order of their times, however many wait", async (context) => {
  const { db, world, intent, log } = await openBurnWorld(context, "mints");
  const now = world.clock.now();
  const minted = {
    chain: HOME,
    amountUnits: USDC,
    block: HEAD,
    crossing: { crossingName: "cctp-v2/1/new", feeUnits: 0n },
  };
  await recordMovements(db, intent, [{ ...minted, chainTx: "new mint" }]);
  await processMovements(world, HOME);
  const setDue = async (count: number) => {
    await sql`
      update awaited_burn set next_at = ${now}::timestamptz - interval '1 minute' where mint_id in (
        select mint_id from awaited_burn order by mint_id desc limit ${count})`.execute(db.root);
  };
  await setDue(1);
  await sql`update crossing set mint = 'cctp-v2/1/new' where movement_id = (select max(movement_id) from crossing)`.execute(
    db.root,
  );
  const away = { caip2: AWAY, readers: [] } as unknown as Chain;
  await log.take();
  await findBurns(world, away);
  assert.equal(
    (await db.root.selectFrom("awaited_burn").select("mint_id").execute()).length,
    PAST,
    "the mint whose burn is known waits no longer",
  );
  await setDue(1);
  const at = world.clock.now();
  const awaited = await claimUnmatchedMint(db, { bridge: BRIDGE, at, claimedUntil: new Date(at.getTime() + 60_000) });
  assert.ok(awaited);
  await postponeUnmatchedMints(db, [awaited.mint_id], at);
  await writeBurnSearch(db, awaited, { searchedNumber: 10n, lowestNumber: 1n, attempts: 1, nextAt: at });
  const isOfTest = /interval '1 minute'|^select "mint_id"/;
  const statements = (await log.take()).filter(({ text }) => /awaited_burn/.test(text) && !isOfTest.test(text));
  for (const name of [
    "list_due_mints",
    "claim_awaited_burn",
    "delete from awaited_burn",
    "unexplained_since",
    "searched_number",
  ])
    assert.ok(
      statements.some(({ text }) => text.includes(name)),
      `${name} was not measured`,
    );
  for (const { text, cost } of statements)
    assert.ok(!isExcessive(cost), `${cost.readRows} rows, ${cost.pages} pages: ${text}`);
});
