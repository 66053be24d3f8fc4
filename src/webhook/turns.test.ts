import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { readFeedOf } from "../../test/support/events.ts";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { waitUntilBlocked } from "../../test/support/waitUntilBlocked.ts";
import { hasSignature, insertAccountWithIntents, openWebhooks, Receiver } from "../../test/support/webhooks.ts";
import type { Db } from "../db/database.ts";
import { assignEventSequences } from "../event/assignEventSequences.ts";
import { DAY_MS } from "../kernel/clock.ts";
import { idBytes } from "../kernel/ids.ts";
import { WebhookDeliverer } from "./deliver.ts";
import { fanOut } from "./fanOut.ts";
import { changeEndpoint, createEndpoint, deleteEndpoint, rotateSecret } from "./endpoint/manageEndpoints.ts";
import { readCursor, writeCursor } from "./cursorStore.ts";
import { leaseEndpoints, listEndpointRows, markBehind, renewLeases } from "./endpoint/endpointStore.ts";
import { listDeliveries } from "./listDeliveries.ts";
import { purgeDeliveries } from "./purgeDeliveries.ts";
import { redeliver, sendTest } from "./redeliver.ts";

const HOUR_MS = 3_600_000;
const TAKEOVER_MS_MAX = 9_000;

for (const kind of thoroughDatabases) {
  describe(`turns of webhooks on ${kind}`, () => {
    let db: Db;
    let webhooks: ReturnType<typeof openWebhooks>;
    let receiver: Receiver;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());
    let url: string;
    beforeEach(async () => {
      webhooks = openWebhooks(db, { timeoutMs: 2_000 });
      receiver = new Receiver();
      url = await receiver.listen();
    });

    async function tearDown(): Promise<void> {
      receiver.close();
      await webhooks.close();
      await sql`update webhook_endpoint set due_at = null, due_since = null, is_behind = false`.execute(db.root);
    }

    // One connection to the embedded database runs one transaction at a time.
    if (kind === "postgres")
      test("an event that another process marks while a fan-out ends gets its delivery", async (t) => {
        t.after(tearDown);
        const shop = await openShop(1);
        const [endpoint] = await shop.rows();
        await shop.append(0, "first");
        while (!(await assignEventSequences(webhooks.world)).isDone);
        const [first] = await readFeedOf(db, { accountId: shop.accountId });
        // The fan-out reads the first event, and waits for this row.
        const held = Promise.withResolvers<void>();
        const holding = db.transaction(async (tx) => {
          await sql`set local session_replication_role = replica`.execute(tx);
          await sql`insert into webhook_delivery (endpoint_number, event_position, sequence, is_replay, status, tries, created_at)
            select ${endpoint?.number ?? 0}, position, 1, false, 'pending', 0, created_at from event
            where id = ${idBytes("evt", first?.id ?? "")}`.execute(tx);
          await held.promise;
          throw new Error("taken back");
        });
        const running = fanOut(webhooks.world);
        await waitUntilBlocked(db.root);
        await shop.append(0, "second");
        while (!(await assignEventSequences(webhooks.world)).isDone);
        const marking = db.transaction(async (tx) => {
          const last = await markBehind(tx, { afterRevision: await readCursor(tx), limit: 500 });
          await writeCursor(tx, last ?? 0n);
        });
        // Without waiting for the fan-out it has ended by now.
        await Promise.race([marking, setTimeout(500)]);
        held.resolve();
        await assert.rejects(holding, /taken back/);
        await Promise.all([running, marking]);
        await webhooks.work();
        assert.deepEqual(labels(), ["first", "second"]);
      });

    async function openShop(endpoints = 1) {
      const { accountId, intents } = await insertAccountWithIntents(db, 2);
      for (let count = 0; count < endpoints; count += 1)
        await createEndpoint(webhooks.world, { accountId, input: { url: `${url}/${count}` } });
      const rows = () => listEndpointRows(db.root, accountId);
      const [endpoint] = await rows();
      const key = { accountId, endpointId: endpoint?.id ?? "" };
      const append = (intent: number | null, ...labels: string[]) =>
        webhooks.appendChanges(
          accountId,
          labels.map((label) => ({ intentNumber: intent === null ? null : (intents[intent]?.seq ?? 0n), label })),
        );
      return { accountId, key, rows, append };
    }

    const labels = () => receiver.received.map(({ event }) => String(Reflect.get(event.data.object, "label")));

    test("fan-out goes on behind the endpoints that it has served, also while these have more", async (t) => {
      t.after(tearDown);
      const first = await openShop(1);
      const last = await openShop(1);
      for (const { append } of [first, last]) await append(null, "one");
      while (!(await assignEventSequences(webhooks.world)).isDone);
      const [front] = await first.rows();
      // A hundred endpoints, as many as one step looks at, stay behind without an end.
      await sql`insert into webhook_endpoint (id, account_id, url, types, status, secret, fanned_sequence, is_behind, lease_token,
          created_at, updated_at)
        select 'we_front' || n, account_id, url, types, status, secret, fanned_sequence, true, 0, created_at, updated_at
        from webhook_endpoint, generate_series(1, 100) n where number = ${front?.number ?? 0}`.execute(db.root);
      const late = await openShop(1);
      await late.append(null, "late");
      while (!(await assignEventSequences(webhooks.world)).isDone);
      const behind = () => sql`update webhook_endpoint set is_behind = true where id like 'we_front%'`.execute(db.root);
      let steps = 0;
      while ((await late.rows())[0]?.fanned_sequence === 0n && (steps += 1) < 10) {
        await behind();
        await fanOut(webhooks.world);
      }
      assert.ok(steps <= 4, `served after ${steps} steps`);
    });

    test("one statement leases no more endpoints of an account than its share", async (t) => {
      t.after(tearDown);
      const shop = await openShop(12);
      const other = await openShop(1);
      for (const { append } of [shop, other]) await append(null, "one");
      while (!(await assignEventSequences(webhooks.world)).isDone);
      while (!(await fanOut(webhooks.world)).isDone);
      const lease = () => leaseEndpoints(db, { at: webhooks.clock.now(), isFailing: false, limit: 64, accountMax: 8 });
      const count = (leases: Awaited<ReturnType<typeof lease>>, accountId: string) =>
        leases.filter(({ endpoint }) => endpoint.account_id === accountId).length;
      const first = await lease();
      assert.deepEqual([count(first, shop.accountId), count(first, other.accountId)], [8, 1]);
      assert.deepEqual(await lease(), []);
      webhooks.clock.advance(61_000);
      assert.equal(count(await lease(), shop.accountId), 8);
    });

    test("a delivery keeps its lease while it runs, and is taken over soon after its process ends", async (t) => {
      t.after(tearDown);
      const shop = await openShop(1);
      await shop.append(null, "one");
      const answers: ServerResponse[] = [];
      receiver.behave = (_event, response) => void answers.push(response);
      while (!(await assignEventSequences(webhooks.world)).isDone);
      while (!(await fanOut(webhooks.world)).isDone);
      const steal = () => leaseEndpoints(db, { at: webhooks.clock.now(), isFailing: false, limit: 64, accountMax: 8 });
      const ending = new AbortController();
      const deliverer = new WebhookDeliverer(webhooks.world);
      await deliverer.start(ending.signal);
      for (let seconds = 0; seconds < 30; seconds += 5) {
        webhooks.clock.advance(5_000);
        await deliverer.start(ending.signal);
        assert.deepEqual(await steal(), []);
      }
      webhooks.clock.advance(TAKEOVER_MS_MAX);
      assert.equal((await steal()).length, 1, "its process has renewed nothing for so long");
      await deliverer.start(ending.signal);
      webhooks.clock.advance(TAKEOVER_MS_MAX);
      assert.equal((await steal()).length, 1, "a lease of another process is not renewed");
      for (const response of answers) response.writeHead(204).end();
      await deliverer.drain();
    });

    test("an endpoint that is disabled during a delivery gets no turn by the renewed lease", async (t) => {
      t.after(tearDown);
      const shop = await openShop(1);
      await shop.append(null, "one");
      while (!(await assignEventSequences(webhooks.world)).isDone);
      while (!(await fanOut(webhooks.world)).isDone);
      const at = webhooks.clock.now();
      const leases = await leaseEndpoints(db, { at, isFailing: false, limit: 64, accountMax: 8 });
      await changeEndpoint(webhooks.world, shop.key, { status: "disabled" });
      await renewLeases(db, { leases, at });
      assert.equal((await shop.rows())[0]?.due_at, null);
    });

    test("an endpoint with a backlog has its next turn behind the endpoints that wait", async (t) => {
      t.after(tearDown);
      const backlog = await openShop(1);
      const fresh = await openShop(1);
      await backlog.append(null, "backlog");
      while (!(await assignEventSequences(webhooks.world)).isDone);
      while (!(await fanOut(webhooks.world)).isDone);
      webhooks.clock.advance(1_000);
      await fresh.append(null, "fresh");
      while (!(await assignEventSequences(webhooks.world)).isDone);
      while (!(await fanOut(webhooks.world)).isDone);
      webhooks.clock.advance(1_000);
      // Further events of the backlog do not bring its turn forward, and neither does a replay.
      await backlog.append(null, "more");
      const [before] = await backlog.rows();
      while (!(await assignEventSequences(webhooks.world)).isDone);
      while (!(await fanOut(webhooks.world)).isDone);
      await sendTest(webhooks.world, backlog.key);
      const [waiting] = await backlog.rows();
      assert.deepEqual(waiting?.due_at, before?.due_at);
      const lease = async () =>
        (await leaseEndpoints(db, { at: webhooks.clock.now(), isFailing: false, limit: 1, accountMax: 8 }))[0];
      assert.equal((await lease())?.endpoint.account_id, backlog.accountId);
      webhooks.clock.advance(61_000);
      assert.equal((await lease())?.endpoint.account_id, fresh.accountId);
    });

    test("a clock that steps back by hours stops no endpoint, no try and no lease", async (t) => {
      t.after(tearDown);
      const shop = await openShop(1);
      webhooks.clock.advance(5 * HOUR_MS);
      receiver.behave = () => 500;
      await shop.append(0, "one", "two");
      await webhooks.work();
      assert.deepEqual(labels(), ["one"]);
      await shop.append(1, "other");
      while (!(await assignEventSequences(webhooks.world)).isDone);
      while (!(await fanOut(webhooks.world)).isDone);
      const leases = await leaseEndpoints(db, { at: webhooks.clock.now(), isFailing: true, limit: 64, accountMax: 8 });
      assert.equal(leases.length, 1, "a process that crashes with its lease");
      webhooks.clock.advance(-5 * HOUR_MS);
      receiver.behave = () => 200;
      await webhooks.work();
      assert.deepEqual(labels().toSorted(), ["one", "one", "other", "two"]);
    });

    test("an endpoint that failed with tests and replays alone works again with the next event", async (t) => {
      t.after(tearDown);
      const shop = await openShop(1);
      await shop.append(0, "delivered");
      await webhooks.work();
      receiver.behave = () => 500;
      for (let day = 0; day < 7; day += 1) {
        if (day < 6 && (await shop.rows())[0]?.status === "enabled") await sendTest(webhooks.world, shop.key);
        await webhooks.work();
        webhooks.clock.advance(DAY_MS + HOUR_MS);
      }
      assert.equal((await shop.rows())[0]?.disabled_reason, "failing");
      // Every waiting try ends while it is disabled.
      await sql`update webhook_delivery set status = 'failed', due_at = null, due_since = null, closed_at = ${webhooks.clock.now()}
        where status = 'pending'`.execute(db.root);
      receiver.behave = () => 200;
      receiver.received.length = 0;
      await shop.append(1, "next", "and the next");
      for (let day = 0; day < 3; day += 1) {
        await webhooks.work();
        webhooks.clock.advance(DAY_MS + HOUR_MS);
      }
      assert.equal((await shop.rows())[0]?.status, "enabled");
      assert.deepEqual(
        labels().filter((label) => label.includes("next")),
        ["next", "and the next"],
      );
    });

    test("waiting replays, and those of a day, are bounded", async (t) => {
      t.after(tearDown);
      const shop = await openShop(1);
      await shop.append(0, "one");
      await webhooks.work();
      const [endpoint] = await shop.rows();
      const replay = () => redeliver(webhooks.world, shop.key, { fromSequence: 1n, toSequence: 1n });
      await replay();
      await sql`insert into webhook_delivery (endpoint_number, event_position, sequence, intent_number, is_replay, status, tries, created_at)
        select endpoint_number, event_position, sequence, intent_number, true, 'pending', 0, created_at
        from webhook_delivery, generate_series(1, 9999) where endpoint_number = ${endpoint?.number ?? 0} and is_replay`.execute(
        db.root,
      );
      await assert.rejects(replay, { code: "rate_limited", retryAfterS: 60 });
      await assert.rejects(sendTest(webhooks.world, shop.key), { code: "rate_limited" });
      await sql`delete from webhook_delivery where endpoint_number = ${endpoint?.number ?? 0} and is_replay`.execute(
        db.root,
      );
      await db.root
        .updateTable("webhook_endpoint")
        .set({ replays: 100_000 })
        .where("id", "=", shop.key.endpointId)
        .execute();
      await assert.rejects(replay, /100000 events were delivered again within a day/);
      webhooks.clock.advance(DAY_MS);
      assert.deepEqual(await replay(), { count: 1 });
    });

    test("D35 every secret of the last day signs, however often it was rotated", async (t) => {
      t.after(tearDown);
      const shop = await openShop(1);
      const [endpoint] = await shop.rows();
      const secrets = [endpoint?.secret ?? new Uint8Array()];
      for (let count = 0; count < 3; count += 1) {
        secrets.push((await rotateSecret(webhooks.world, shop.key)).secret);
        webhooks.clock.advance(HOUR_MS);
      }
      await assert.rejects(rotateSecret(webhooks.world, shop.key), { code: "rate_limited", retryAfterS: 21 * 3_600 });
      await shop.append(null, "with all");
      await webhooks.work();
      webhooks.clock.advance(22 * HOUR_MS);
      await shop.append(null, "without the first");
      await webhooks.work();
      const signed = receiver.received.map((each) => secrets.map((secret) => hasSignature(each, secret)));
      assert.deepEqual(signed, [
        [true, true, true, true],
        [false, false, true, true],
      ]);
    });

    test("a page of deliveries reads a bounded part of them, and the next one goes on there", async (t) => {
      t.after(tearDown);
      const shop = await openShop(1);
      receiver.behave = () => 200;
      await shop.append(0, "oldest");
      await webhooks.work();
      const [endpoint] = await shop.rows();
      const endpointNumber = endpoint?.number ?? 0;
      await sql`insert into webhook_delivery (endpoint_number, event_position, sequence, is_replay, status, tries, created_at)
        select endpoint_number, event_position, sequence, true, 'pending', 0, created_at
        from webhook_delivery, generate_series(1, 10100) where endpoint_number = ${endpointNumber}`.execute(db.root);
      const [event] = await readFeedOf(db, { accountId: shop.accountId });
      const list = (query: object) =>
        listDeliveries(db, {
          endpointNumber,
          below: undefined,
          limit: 5,
          status: undefined,
          eventId: undefined,
          ...query,
        });
      const first = await list({ status: "succeeded" });
      assert.deepEqual([first.rows.length, typeof first.readTo], [0, "bigint"]);
      const second = await list({ status: "succeeded", below: first.readTo });
      assert.deepEqual([second.rows.length, second.readTo], [1, undefined]);
      assert.equal((await list({ status: "pending" })).rows.length, 5);
      assert.deepEqual((await list({ status: "failed" })).rows, []);
      assert.equal((await list({ eventId: event?.id, status: "succeeded" })).rows.length, 1);
      assert.equal((await list({ eventId: event?.id })).rows.length, 5);
      await sql`update webhook_delivery set status = 'failed', closed_at = ${webhooks.clock.now()}
        where endpoint_number = ${endpointNumber} and status = 'pending'`.execute(db.root);
      const { id } = (await sendTest(webhooks.world, shop.key)) as { id: string };
      assert.equal((await list({ eventId: id })).rows.length, 1);
      assert.equal((await list({ status: "failed" })).rows.length, 5);
    });

    test("a deleted endpoint leaves although deliveries become old all the time, and so many at most wait", async (t) => {
      t.after(tearDown);
      receiver.behave = () => 500;
      const [busy, shop] = [await openShop(1), await openShop(1)];
      const [row] = await busy.rows();
      await busy.append(null, ...Array.from({ length: 5 }, (_, index) => `old ${index}`));
      await shop.append(0, "one", "two", "three");
      await webhooks.work();
      await sql`update webhook_endpoint set replays = 1000, replays_since = ${webhooks.clock.now()}
        where id = ${shop.key.endpointId}`.execute(db.root);
      await deleteEndpoint(webhooks.world, shop.key);
      const ofDeleted = async () => {
        const { rows } = await sql<{ endpoints: number; deliveries: number }>`
          select count(distinct endpoint.number)::int as endpoints, count(delivery.number)::int as deliveries
          from webhook_endpoint endpoint left join webhook_delivery delivery on delivery.endpoint_number = endpoint.number
          where endpoint.account_id = ${shop.accountId}`.execute(db.root);
        return rows[0];
      };
      for (let minute = 0; minute < 4; minute += 1) {
        await sql`update webhook_delivery set status = 'failed', due_at = null, due_since = null, closed_at = ${new Date(0)}
          where number = (select min(number) from webhook_delivery where endpoint_number = ${row?.number ?? 0})`.execute(
          db.root,
        );
        assert.ok((await purgeDeliveries(webhooks.world, 2)) > 0);
      }
      assert.deepEqual(await ofDeleted(), { endpoints: 1, deliveries: 0 }, "its replays count for their day");

      await sql`insert into webhook_endpoint (id, account_id, url, types, status, secret, fanned_sequence, is_behind, lease_token,
          created_at, updated_at, deleted_at, replays, replays_since)
        select 'we_deleted' || n, account_id, url, types, status, secret, 0, false, 0, created_at, updated_at, deleted_at, replays,
          replays_since from webhook_endpoint, generate_series(1, 47) n where id = ${shop.key.endpointId}`.execute(
        db.root,
      );
      const create = () => createEndpoint(webhooks.world, { accountId: shop.accountId, input: { url } });
      await assert.rejects(create(), { code: "rate_limited", retryAfterS: 60 });
      webhooks.clock.advance(DAY_MS);
      await purgeDeliveries(webhooks.world, 100);
      assert.deepEqual(await ofDeleted(), { endpoints: 0, deliveries: 0 });
      await create();
    });
  });
}
