import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { sql } from "kysely";
import type { Chain } from "../../src/chain/chain.ts";
import { deleteOutgoingBytes } from "../../src/chain/outgoing/outgoingStore.ts";
import { RETENTION_DEFAULT } from "../../src/config/retention.ts";
import type { Db } from "../../src/db/database.ts";
import { purgeVerifications } from "../../src/deposit/verify/verifyDeposits.ts";
import { purgeEvents } from "../../src/event/purgeEvents.ts";
import { purgeExpired } from "../../src/idempotency/purgeExpired.ts";
import { addMs, DAY_MS, systemClock } from "../../src/kernel/clock.ts";
import { purgeExpiredLoop } from "../../src/loops/purgeExpiredLoop.ts";
import { purgeTransactions } from "../../src/settlement/purgeTransactions.ts";
import { purgeViewHints } from "../../src/view/purgeViewHints.ts";
import type { World } from "../../src/world.ts";
import { thoroughDatabases, openTestDatabase } from "../support/database.ts";
import { insertIntent, TEST_CHAIN } from "../support/intents.ts";
import { setHead } from "../support/movements.ts";
import { stationWorld } from "../support/stationWorld.ts";

const LIMIT = 500;
const MANY = 10_000;

// Only the deletion of stored bytes is needed of the chain.
const chain = {
  caip2: TEST_CHAIN,
  sender: { deleteBytes: deleteOutgoingBytes },
} as unknown as Chain;

for (const kind of thoroughDatabases) {
  describe(`purging many old rows on ${kind}`, () => {
    let db: Db;
    let world: World;
    let intentId: string;
    const agoMs = (ms: number) => addMs(systemClock.now(), -ms);
    const count = async (table: "view_hint" | "event" | "outgoing_attempt" | "deposit_agreement") =>
      Number((await sql<{ n: bigint }>`select count(*) as n from ${sql.table(table)}`.execute(db.root)).rows[0]?.n);

    before(async () => {
      db = await openTestDatabase(kind);
      const station = stationWorld(db);
      const retention = { ...RETENTION_DEFAULT, eventsDays: 30 };
      world = { ...station, config: { ...station.config, retention }, chains: new Map([[TEST_CHAIN, chain]]) };
      await setHead(db, TEST_CHAIN, { number: 1_000n, finalized: 900n });
      intentId = (await insertIntent(db)).id;
    });
    after(() => db.close());

    test("an account's events are deleted without a gap, and one without a sequence stays", async () => {
      // Sequences in the order of commits: position 2 got its sequence after position 3.
      const sequences = [1, 3, 2, 4, null];
      const daysOld = [50, 50, 10, 50, 50];
      for (const [index, sequence] of sequences.entries())
        await sql`insert into event (id, account_number, type, format, livemode, content, created_at, sequence)
          values (${systemEntropy.bytes(16)}, 1000, 1, 0, false, '[]', ${agoMs((daysOld[index] ?? 0) * DAY_MS)}, ${sequence})`.execute(
          db.root,
        );
      assert.equal(await purgeEvents(world, LIMIT), 1);
      const left = await db.root.selectFrom("event").select("sequence").orderBy("position").execute();
      assert.deepEqual(
        left.map(({ sequence }) => sequence),
        [3n, 2n, 4n, null],
      );
      await sql`delete from event`.execute(db.root);
    });

    test("10,000 rows of each kind are deleted in batches with pauses, and each batch reads what it deletes", async () => {
      await insertMany();
      if (kind === "postgres") await assertReadsByIndex();
      const { sleeps, loop } = pausingLoop();
      let batches = 0;
      for (let left = await count("event"); left > 0; batches += 1) {
        await loop.tick();
        const now = await count("event");
        assert.ok(left - now <= LIMIT, `${left - now} in one batch`);
        left = now;
      }
      while (await loop.tick()) batches += 1;
      assert.ok(batches >= MANY / LIMIT && sleeps.every((ms) => ms > 0) && sleeps.length >= batches - 1);
      assert.equal(await count("view_hint"), 0);
      assert.equal(await count("deposit_agreement"), 0);
      assert.equal(await count("outgoing_attempt"), 0);
      assert.deepEqual((await sql`select 1 from idempotent_answer`.execute(db.root)).rows, []);
    });

    function pausingLoop() {
      const sleeps: number[] = [];
      const pausing = { ...systemClock, sleep: async (durationMs: number) => void sleeps.push(durationMs) };
      return { sleeps, loop: purgeExpiredLoop({ ...world, clock: pausing }) };
    }

    /** 10,000 rows in each table, all old enough. */
    async function insertMany(): Promise<void> {
      const at = agoMs(365 * DAY_MS);
      await db.transaction(async (tx) => {
        await sql`set local session_replication_role = replica`.execute(tx);
        await sql`insert into view_hint select ${intentId}, 'eip155', '1', 'n' || n, ${at} from generate_series(1, ${MANY}) n`.execute(
          tx,
        );
        await sql`insert into idempotent_answer select 'acct', 'create', 'n' || n, ${Buffer.alloc(32)}, 200, '{}', ${at} from generate_series(1, ${MANY}) n`.execute(
          tx,
        );
        await sql`
          insert into event (position, id, account_number, type, format, livemode, content, created_at, sequence) overriding system value
          select -n, decode(md5(n::text), 'hex'), 1000 + n % 7, 1, 0, false, '[]', ${at}, ${MANY} - n from generate_series(1, ${MANY}) n`.execute(
          tx,
        );
        await sql`
          insert into deposit_agreement (deposit_id, chain, block_hash, state, answers, asked_at)
          select 'n' || n, ${TEST_CHAIN}, '0x', 'agreed', '[]', ${at}::timestamptz from generate_series(1, ${MANY}) n`.execute(
          tx,
        );
        await sql`
          insert into deposit (id, movement_id, intent_id, chain, token, token_decimals, sender, amount_units, status, chain_tx, identity,
            block_number, block_hash, seen_at, updated_at, reason)
          select 'n' || n, -n, ${intentId}, ${TEST_CHAIN}, 'n', 6, '0x', 0, 'dropped', 'n' || n, '0', 0, '0x', ${at}, ${at}, 'reorg'
          from generate_series(1, ${MANY}) n`.execute(tx);
        await sql`
          insert into outgoing_transaction (chain, sender, nonce, recipient, data, gas_limit, status, mined_chain_tx, mined_block_number, created_at, closed_at)
          select ${TEST_CHAIN}, 'old', n, '0x', '0x', 1, 'mined', '0x', 0, ${at}, ${at}::timestamptz + n * interval '1 second' from generate_series(1, ${MANY}) n`.execute(
          tx,
        );
        await sql`
          insert into outgoing_attempt (outgoing_id, attempt, chain_tx, raw, max_fee_per_gas, max_priority_fee_per_gas, created_at)
          select id, 1, 'old' || nonce, '0x', 1, 1, created_at from outgoing_transaction where sender = 'old'`.execute(
          tx,
        );
      });
      await sql`analyze`.execute(db.root);
    }

    /** Counts the rows that one batch of each purge reads, and rolls it back. */
    async function assertReadsByIndex(): Promise<void> {
      const limit = 100;
      const cases: [table: string, purge: (world: World) => Promise<number>][] = [
        ["view_hint", (inside) => purgeViewHints(inside, limit)],
        ["idempotent_answer", (inside) => purgeExpired(inside, limit)],
        ["deposit_agreement", (inside) => purgeVerifications(inside, limit)],
        ["event", (inside) => purgeEvents(inside, limit)],
        ["outgoing_transaction", (inside) => purgeTransactions(inside, chain, limit)],
      ];
      for (const [table, purge] of cases) {
        const undo = new Error("undo");
        const attempt = db.transaction(async (tx) => {
          const inside: Db = { ...db, root: tx, transaction: (run) => run(tx) };
          const reads = async () => {
            const { rows } = await sql<{ bySeq: bigint; byIndex: bigint }>`
              select seq_tup_read as "bySeq", coalesce(idx_tup_fetch, 0) as "byIndex" from pg_stat_xact_user_tables where relname = ${table}`.execute(
              tx,
            );
            return rows[0] ?? { bySeq: 0n, byIndex: 0n };
          };
          const before = await reads();
          assert.equal(await purge({ ...world, db: inside }), limit, table);
          const { bySeq, byIndex } = await reads();
          assert.equal(bySeq - before.bySeq, 0n, `${table} is read from end to end`);
          assert.ok(byIndex - before.byIndex <= 10n * BigInt(limit), `${table}: ${byIndex - before.byIndex} rows read`);
          throw undo;
        });
        await assert.rejects(attempt, undo);
      }
    }
  });
}
