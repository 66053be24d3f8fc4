import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { reopenOutgoing } from "../../src/chain/outgoing/outgoingStore.ts";
import { RETENTION_DEFAULT } from "../../src/config/retention.ts";
import type { Db } from "../../src/db/database.ts";
import { purgeVerifications } from "../../src/deposit/verify/verifyDeposits.ts";
import { purgeEvents } from "../../src/event/purgeEvents.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { addMs, DAY_MS, systemClock } from "../../src/kernel/clock.ts";
import { issueHandoffCode, purgeHandoffCodes, redeemHandoffCode } from "../../src/intent/checkout/handoff.ts";
import { purgeTransactions } from "../../src/settlement/purgeTransactions.ts";
import { purgeViewHints } from "../../src/view/purgeViewHints.ts";
import type { World } from "../../src/world.ts";
import { thoroughDatabases } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { openRoad, type Road } from "../support/road.ts";

const LIMIT = 500;
const HOUR_MS = 3_600_000;

for (const kind of thoroughDatabases) {
  describe(`purging old rows on ${kind}`, () => {
    let road: Road;
    let world: World;
    let db: Db;
    let aheadMs = 0;
    const clock = { ...systemClock, now: () => addMs(systemClock.now(), aheadMs) };
    const agoMs = (ms: number) => addMs(clock.now(), -ms);
    const count = async (table: "view_hint" | "event" | "outgoing_attempt" | "deposit_agreement") =>
      Number((await sql<{ n: bigint }>`select count(*) as n from ${sql.table(table)}`.execute(db.root)).rows[0]?.n);

    before(async () => {
      road = await openRoad({ database: kind, clock });
      ({ world } = road);
      ({ db } = world);
    });
    after(() => road.close());

    async function payAndSettle() {
      const intent = await road.create({ priceUnits: 5_000_000 });
      await road.pay(intent, 5_000_000n);
      await road.settle();
      await road.chain.mine(100);
      for (let round = 0; round < 4; round += 1) await road.tick();
      return intent;
    }
    const outgoing = () => db.root.selectFrom("outgoing_transaction").selectAll().orderBy("id").execute();
    const chainOf = () => [...world.chains.values()][0] ?? assert.fail();

    test("a transaction loses its bytes after the retention, once its settlements have ended", async () => {
      const intent = await payAndSettle();
      const [settlement] = await road.settlements(intent);
      assert.equal(settlement?.status, "landed");
      const [before] = await outgoing();
      aheadMs = 90 * DAY_MS - HOUR_MS;
      assert.equal(await purgeTransactions(world, chainOf(), LIMIT), 0, "it is too young");
      aheadMs = 90 * DAY_MS + HOUR_MS;

      const set = (status: "submitted" | "landed") =>
        db.root.updateTable("settlement").set({ status }).where("id", "=", settlement.id).execute();
      await set("submitted");
      assert.equal(await purgeTransactions(world, chainOf(), LIMIT), 0, "a settlement waits for it");
      const purgeByHand = sql`update outgoing_transaction set purged_at = ${clock.now()}`;
      await assert.rejects(purgeByHand.execute(db.root), /until its settlements have ended/);
      await set("landed");
      await assert.rejects(sql`delete from outgoing_attempt`.execute(db.root), /stay until it is purged/);

      const { rows } = await sql<{ reread: bigint }>`select reread_number as reread from chain_cursor`.execute(db.root);
      await sql`update chain_cursor set reread_number = 0`.execute(db.root);
      assert.equal(await purgeTransactions(world, chainOf(), LIMIT), 0, "its block is not read again yet");
      await sql`update chain_cursor set reread_number = ${rows[0]?.reread}`.execute(db.root);

      // An open one of the same age stays.
      await payAndSettle();
      const [, open] = await outgoing();
      await sql`update outgoing_transaction set status = 'signed', closed_at = null, mined_chain_tx = null, mined_block_number = null,
        created_at = ${agoMs(200 * DAY_MS)} where id = ${open?.id}`.execute(db.root);
      const attempts = await count("outgoing_attempt");
      assert.equal(await purgeTransactions(world, chainOf(), LIMIT), 1);
      assert.equal(await count("outgoing_attempt"), attempts - 1);
      const [purged, stillOpen] = await outgoing();
      assert.deepEqual(purged, { ...before, data: "", purged_at: purged?.purged_at });
      assert.equal(stillOpen?.status, "signed");
      assert.equal(stillOpen.purged_at, null);
      assert.deepEqual(await road.settlements(intent), [settlement]);
      await road.tick();
    });

    test("a reorg that frees the nonce of a purged transaction does not open it", async () => {
      const [purged] = await outgoing();
      const from = purged?.nonce ?? 0n;
      const scope = { chain: road.chain.caip2, sender: purged?.sender ?? "", from, below: from + 1n };
      const opening = sql`update outgoing_transaction set status = 'signed', closed_at = null, mined_chain_tx = null,
        mined_block_number = null where id = ${purged?.id}`;
      await assert.rejects(opening.execute(db.root), /purged_is_closed/);
      assert.deepEqual(await reopenOutgoing(db, scope), []);
      assert.equal((await outgoing())[0]?.status, "lost");
    });

    test("an agreed verification is deleted after the retention, and its deposit keeps the time", async () => {
      const intents = [await payAndSettle(), await payAndSettle(), await payAndSettle()];
      const ids: string[] = [];
      for (const intent of intents) ids.push((await road.deposits(intent))[0]?.id ?? "");
      const [old, late, asking] = ids;
      const add = async (
        id: string | undefined,
        { state, askedDays, agreedDays }: { state: string; askedDays: number; agreedDays?: number },
      ) => {
        const retryAt = state === "asking" ? agoMs(askedDays * DAY_MS) : null;
        await sql`insert into deposit_agreement (deposit_id, chain, block_hash, state, answers, asked_at, retry_at)
          values (${id}, ${road.chain.caip2}, '0x', ${state}, '[]', ${agoMs(askedDays * DAY_MS)}, ${retryAt})`.execute(
          db.root,
        );
        if (agreedDays !== undefined)
          await sql`update deposit set agreed_at = ${agoMs(agreedDays * DAY_MS)} where id = ${id}`.execute(db.root);
      };
      await add(old, { state: "agreed", askedDays: 91, agreedDays: 91 });
      await add(late, { state: "agreed", askedDays: 91, agreedDays: 89 });
      await add(asking, { state: "asking", askedDays: 400 });
      assert.equal(await purgeVerifications(world, LIMIT), 1);
      const { rows } = await sql<{ id: string }>`select deposit_id as id from deposit_agreement order by 1`.execute(
        db.root,
      );
      assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set([late, asking]));
      assert.ok((await road.deposits(intents[0] ?? assert.fail()))[0]?.agreed_at);
      await sql`delete from deposit_agreement`.execute(db.root);
    });

    test("a hint is deleted an hour after it expired", async () => {
      const { id } = await road.create({});
      for (const [token, expiredMs] of [
        ["old", 2 * HOUR_MS],
        ["young", HOUR_MS / 2],
        ["valid", -HOUR_MS],
      ] as const)
        await sql`insert into view_hint values (${id}, 'eip155', '1', ${token}, ${agoMs(expiredMs)})`.execute(db.root);
      assert.equal(await purgeViewHints(world, LIMIT), 1);
      const { rows } = await sql<{ token: string }>`select token from view_hint order by 1`.execute(db.root);
      assert.deepEqual(rows, [{ token: "valid" }, { token: "young" }]);
    });

    test("handoff codes stay until they are used or over", async () => {
      const { id } = await road.create({});
      const [valid, used] = [await issueHandoffCode(world, id), await issueHandoffCode(world, id)];
      assert.equal(await redeemHandoffCode(world, { intentId: id, code: used.code }), true);
      assert.equal(await purgeHandoffCodes(world, LIMIT), 0);
      aheadMs += 3 * 60_000;
      assert.equal(await redeemHandoffCode(world, { intentId: id, code: valid.code }), false);
      assert.equal(await purgeHandoffCodes(world, LIMIT), 1);
    });

    const withEventsDays = (eventsDays: number | undefined) => ({
      ...world,
      config: { ...world.config, retention: { ...RETENTION_DEFAULT, eventsDays } },
    });

    test("events stay permanently, unless the operator sets a retention", async () => {
      await assignAll();
      const all = await count("event");
      assert.equal(await purgeEvents(world, LIMIT), 0);
      const recent = await db.root
        .selectFrom("event")
        .select("id")
        .where("created_at", ">=", agoMs(60 * DAY_MS))
        .orderBy("position")
        .execute();
      assert.ok(recent.length > 0 && recent.length < all);
      assert.equal(await purgeEvents(withEventsDays(60), LIMIT), all - recent.length);
      assert.deepEqual(await db.root.selectFrom("event").select("id").orderBy("position").execute(), recent);
      await assertAllChecks(db);
    });

    async function assignAll(): Promise<void> {
      while (!(await assignEventSequences(world)).isDone);
    }
  });
}
