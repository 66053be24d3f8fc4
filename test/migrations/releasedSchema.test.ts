import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate, pendingMigrations } from "../../src/db/migrate.ts";
import { EmbeddedServer } from "../../src/db/pglite/pglite.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import { listHintedInboxes } from "../../src/view/store.ts";
import { referenceOf, type Caip2 } from "../../src/kernel/caip.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { findAccount } from "../../src/merchant/store.ts";
import { listInboxesAmong } from "../../src/watch/inboxes/inboxes.ts";
import { WatchedInboxes } from "../../src/watch/inboxes/watchedInboxes.ts";
import { applySegment, locateInboxTransfers } from "../../src/watch/store/applySegment.ts";
import { findCursor } from "../../src/watch/store/store.ts";
import { createPostgresDatabase, databases } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { stationWorld } from "../support/stationWorld.ts";

// Migrates a released version's database that holds money; every amount and address must survive.

const RELEASED = new URL("released0010.sql", import.meta.url);
const APPLIED_AT = new Date("2026-11-22T00:00:00Z");

type OldInbox = { intentId: string; chain: Caip2 | null; address: string };

for (const kind of databases) {
  describe(`a database at migration 0010 on ${kind}`, () => {
    let db: Db;
    let money: unknown;
    let inboxes: OldInbox[];
    let chain: Caip2;
    let transfers: unknown;
    let outgoing: unknown;
    before(async () => {
      db = await openReleased(kind);
      money = await readMoney(db);
      inboxes = await listOldInboxes(db);
      const cursor = await db.root.selectFrom("chain_cursor").select("chain").executeTakeFirstOrThrow();
      chain = cursor.chain;
      ok((await pendingMigrations(db)).includes("0011_inbox"));
      transfers = await readTransfers(db, { identity: "position::text", place: "log_index::bigint" });
      outgoing = await readOutgoing(db, { table: "sending", attempt: "sending_attempt", id: "sending_id" });
      await migrate(db, { appliedAt: APPLIED_AT });
    });
    after(() => db.close());

    test("totals, deposits, settlements, balances and entries are unchanged, and all checks pass", async () => {
      deepEqual(await readMoney(db), money);
      await assertAllChecks(db);
    });

    test("transfers keep their places and identities; outgoing transactions keep their bytes and settlements", async () => {
      deepEqual(await readTransfers(db, { identity: "identity", place: "place" }), transfers);
      const names = { table: "outgoing_transaction", attempt: "outgoing_attempt", id: "outgoing_id" };
      deepEqual(await readOutgoing(db, names), outgoing);
    });

    test("each address is found on the chain where it was valid, and EVM addresses on every EVM chain", async () => {
      const evm = inboxes.filter((inbox) => inbox.chain === null);
      const issued = inboxes.filter((inbox) => inbox.chain !== null);
      ok(evm.length >= 20 && issued.some((inbox) => inbox.chain?.startsWith("solana:")));
      const evmAddresses = evm.map(({ address }) => address);
      for (const caip2 of [chain, "eip155:1"] as const)
        deepEqual(await listInboxesAmong(db, caip2, evmAddresses), new Set(evmAddresses));
      for (const { chain: caip2, address } of issued) {
        deepEqual(await listInboxesAmong(db, caip2 ?? chain, [address]), new Set([address]));
        const elsewhere = caip2?.startsWith("solana:") ? "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z" : "eip155:1";
        equal((await listInboxesAmong(db, elsewhere, [address])).size, caip2?.startsWith("solana:") ? 0 : 1);
      }
      const watched = new WatchedInboxes(systemClock, "eip155");
      await watched.refresh(db);
      equal(watched.size, evm.length);
      ok(evmAddresses.every((address) => watched.has(address)));
    });

    test("the inbox rows follow the intents' order and cannot be changed", async () => {
      const { rows } = await sql<{ seq: bigint }>`
        select intent.seq from inbox join intent on intent.id = inbox.intent_id order by inbox.seq`.execute(db.root);
      const seqs = rows.map(({ seq }) => Number(seq));
      deepEqual(
        seqs,
        seqs.toSorted((one, other) => one - other),
      );
      for (const change of ["update inbox set token = token", "delete from inbox", "truncate inbox cascade"])
        await rejects(sql.raw(change).execute(db.root), /an inbox stays as it is/);
    });

    test("a payer's hint finds its inbox, and an existing inbox is refused as a payout wallet", async () => {
      const hints = await listHintedInboxes(db, {
        namespace: "eip155",
        reference: referenceOf(chain),
        after: new Date(0),
        limit: 100,
      });
      ok(hints.length > 0 && hints.every(({ inbox }) => inboxes.some(({ address }) => address === inbox)));
      const { world } = releasedWorld(db, chain, await tokenOf(db));
      const { account_id } = await db.root
        .selectFrom("intent")
        .select("account_id")
        .orderBy("seq")
        .limit(1)
        .executeTakeFirstOrThrow();
      const account = await findAccount(db, account_id);
      ok(account);
      const payoutWallet = inboxes[0]?.address ?? "";
      await rejects(createIntent(db.root, world, { account, input: { payoutWallet } }), {
        code: "unsupported_destination",
      });
      const { isCreated } = await createIntent(db.root, world, { account, input: {} });
      ok(isCreated);
    });

    test("watching continues, and money into an existing inbox becomes a deposit", async () => {
      const token = await tokenOf(db);
      const { world, chain: watched, node } = releasedWorld(db, chain, token);
      const cursor = await findCursor(db, chain);
      const [inbox] = inboxes;
      ok(cursor && inbox);
      const block = {
        number: cursor.number + 1n,
        hash: `0x${"7a".repeat(32)}`,
        parentHash: cursor.hash,
        timestampS: 0,
      };
      const transfer = {
        token,
        from: `0x${"5e".repeat(20)}`,
        to: inbox.address,
        amountText: "4321",
        chainTx: `0x${"7b".repeat(32)}`,
        place: 3n,
        identity: "0",
        blockNumber: block.number,
        blockHash: block.hash,
      };
      const located = await locateInboxTransfers(world, node, [transfer]);
      const from = { number: cursor.number, hash: cursor.hash };
      ok(
        await applySegment(world, watched, { from, ancestorNumber: from.number, to: block, blocks: [block], located }),
      );
      await processMovements(world, chain);
      const deposit = await db.root
        .selectFrom("deposit")
        .select(["intent_id", "amount_units"])
        .where("chain_tx", "=", transfer.chainTx)
        .executeTakeFirst();
      deepEqual(deposit, { intent_id: inbox.intentId, amount_units: 4_321n });
      await assertAllChecks(db);
    });
  });
}

async function openReleased(kind: (typeof databases)[number]): Promise<Db> {
  const text = await readFile(RELEASED, "utf8");
  if (kind === "pglite") {
    const server = await EmbeddedServer.start({ directory: "memory" });
    await server.pglite.exec(text);
    const snapshot = new Blob([await (await server.pglite.dumpDataDir("none")).bytes()]);
    await server.pglite.close();
    return openDatabase({ directory: "memory", snapshot });
  }
  const { url, drop } = await createPostgresDatabase("empty");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  return {
    ...db,
    async close() {
      await db.close();
      await drop();
    },
  };
}

/** Reads every amount and owner in a stable order. */
async function readMoney(db: Db): Promise<unknown> {
  const queries = [
    sql`select id, status, received_units, counted_units, settled_units, fee_units, net_units, pending_count, inbox_address
      from intent order by id`,
    sql`select id, intent_id, status, amount_units, counted_units, settlement_id from deposit order by id`,
    sql`select id, intent_id, status, gross_units, fee_units, route_cost_units, net_units, chain_tx from settlement order by id`,
    sql`select id, intent_id, inbox, direction, amount_units, chain_tx, orphaned_at from movement order by id`,
    sql`select holder, asset, account, balance_units from ledger_balance order by 1, 2, 3`,
    sql`select account, asset, sum(amount_units) as units, count(*) as entries from ledger_entry group by 1, 2 order by 1, 2`,
    sql`select intent_id, namespace, reference, token, address from source_inbox order by 1, 2, 3, 4`,
  ];
  const answers = [];
  for (const query of queries) answers.push((await query.execute(db.root)).rows);
  ok(answers.every((rows) => rows.length > 0));
  return answers;
}

/**
 * Lists the released version's addresses: an intent's own address on every chain (null), an issued one on its chain.
 */
async function listOldInboxes(db: Db): Promise<OldInbox[]> {
  const { rows } = await sql<OldInbox>`
    select intent_id as "intentId", chain, address from (
      select seq, id as intent_id, null as chain, inbox_address as address from intent
      union all select 1000000, intent_id, namespace || ':' || reference, address from inbox_address) as known
    order by seq`.execute(db.root);
  return rows;
}

async function tokenOf(db: Db): Promise<string> {
  const { payout_token } = await db.root
    .selectFrom("intent")
    .select("payout_token")
    .orderBy("seq")
    .limit(1)
    .executeTakeFirstOrThrow();
  return payout_token;
}

/** A world with the released installation's chain, whose provider is never called. */
function releasedWorld(db: Db, caip2: Caip2, token: string) {
  const chainId = Number(referenceOf(caip2));
  const base = stationWorld(db, { caip2, chainId });
  const [only] = base.config.chains;
  ok(only);
  const [first] = only.tokens;
  ok(first);
  const config = { ...base.config, chains: [{ ...only, tokens: [{ ...first, address: token }] }] };
  const world = { ...base, config, catalog: buildCatalog(config) };
  const node = openEvmNode({ caip2, rpcUrl: "http://127.0.0.1:1" });
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  return {
    world,
    chain: createEvmChain({ nodes: [node], gasAccount }, { clock: systemClock, log: base.log }),
    node,
  };
}

/** Reads each transfer's place and its identity, which survives reorgs. */
async function readTransfers(db: Db, names: { identity: string; place: string }): Promise<unknown[]> {
  const [identity, place] = [sql.raw(names.identity), sql.raw(names.place)];
  const movements = await sql`select id, ${identity} as identity, ${place} as place from movement order by id`.execute(
    db.root,
  );
  const deposits = await sql`select id, ${identity} as identity from deposit order by id`.execute(db.root);
  ok(movements.rows.length > 0 && deposits.rows.length > 0);
  return [movements.rows, deposits.rows];
}

/** Reads every outgoing transaction with its bytes and settlements. */
async function readOutgoing(db: Db, names: { table: string; attempt: string; id: string }): Promise<unknown[]> {
  const [table, attempt, id] = [sql.table(names.table), sql.table(names.attempt), sql.ref(names.id)];
  // Later columns are not compared.
  const transactions = await sql`
    select id, chain, sender, nonce, recipient, data, gas_limit, status, mined_chain_tx, mined_block_number, created_at, closed_at
    from ${table} order by id`.execute(db.root);
  const attempts = await sql`
    select ${id} as transaction, attempt, chain_tx, raw, max_fee_per_gas, submitted_at from ${attempt} order by 1, 2`.execute(
    db.root,
  );
  const settlements = await sql`select id, ${id} as transaction from settlement order by id`.execute(db.root);
  ok(transactions.rows.length > 0 && attempts.rows.length > 0);
  return [transactions.rows, attempts.rows, settlements.rows];
}
