import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { readFeedOf } from "../../test/support/events.ts";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import {
  hasSignature,
  insertAccountWithIntents,
  openWebhooks,
  Receiver,
  type ReceivedEvent,
} from "../../test/support/webhooks.ts";
import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { assignEventSequences } from "../event/assignEventSequences.ts";
import { DAY_MS } from "../kernel/clock.ts";
import { changeEndpoint, createEndpoint, deleteEndpoint, rotateSecret } from "./endpoint/manageEndpoints.ts";
import { listEndpointRows, markBehind } from "./endpoint/endpointStore.ts";
import { purgeDeliveries } from "./purgeDeliveries.ts";
import { redeliver, sendTest } from "./redeliver.ts";

const HOUR_MS = 3_600_000;

for (const kind of thoroughDatabases) {
  describe(`webhooks on ${kind}`, () => {
    let db: Db;
    let webhooks: ReturnType<typeof openWebhooks>;
    let receiver: Receiver;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());
    beforeEach(() => {
      webhooks = openWebhooks(db, { timeoutMs: 2_000 });
      receiver = new Receiver();
    });

    async function setUp(options: { intents?: number; types?: string[] } = {}) {
      const url = await receiver.listen();
      const { accountId, intents } = await insertAccountWithIntents(db, options.intents ?? 1);
      const { types } = options;
      const input = { url, ...(types === undefined ? {} : { types }) };
      const endpoint = await createEndpoint(webhooks.world, { accountId, input });
      const key = { accountId, endpointId: endpoint.id };
      const append = (intent: number | null, ...labels: string[]) =>
        webhooks.appendChanges(
          accountId,
          labels.map((label) => ({ intentNumber: intent === null ? null : (intents[intent]?.seq ?? 0n), label })),
        );
      const rowOf = async () => (await listEndpointRows(db.root, accountId))[0];
      const feed = () => readFeedOf(db, { accountId });
      return { url, accountId, endpoint, key, append, rowOf, feed };
    }

    async function tearDown(): Promise<void> {
      receiver.close();
      await webhooks.close();
    }

    const labels = () => receiver.received.map(({ event }) => labelOf(event));

    test("D36 an endpoint gets the events from its creation on, as the feed shows them, signed", async (t) => {
      t.after(tearDown);
      const { accountId, url } = await setUp();
      await webhooks.appendChanges(accountId, [{ intentNumber: null, label: "first" }]);
      await webhooks.work();
      const late = await createEndpoint(webhooks.world, { accountId, input: { url: `${url}/late` } });
      await webhooks.appendChanges(accountId, [{ intentNumber: null, label: "second" }]);
      await webhooks.work();
      assert.deepEqual(labels().toSorted(), ["first", "second", "second"]);
      const events = await readFeedOf(db, { accountId });
      const [first] = receiver.received;
      assert.deepEqual([first?.event, first?.id], [events[0], events[0]?.id]);
      const ofLate = receiver.received.filter((each) => hasSignature(each, late.secret));
      assert.deepEqual(
        ofLate.map(({ event }) => labelOf(event)),
        ["second"],
      );
      assert.equal(first?.headers["content-type"], "application/json");
      assert.match(String(first?.headers["user-agent"]), /^Tributary\//);
    });

    test("D36 an intent's events keep their order; those of other intents do not wait", async (t) => {
      t.after(tearDown);
      const { append } = await setUp({ intents: 2 });
      receiver.behave = (event) => (labelOf(event) === "a1" && receiver.received.length < 8 ? 500 : 200);
      await append(0, "a1", "a2", "a3");
      await append(1, "b1", "b2");
      await append(null, "account");
      await webhooks.work();
      assert.deepEqual(labels().toSorted(), ["a1", "account", "b1", "b2"]);
      for (let tries = 0; tries < 8; tries += 1) {
        webhooks.clock.advance(25 * HOUR_MS);
        await webhooks.work();
      }
      const ofA = labels().filter((label) => label.startsWith("a") && label !== "account");
      assert.deepEqual([...new Set(ofA)], ["a1", "a2", "a3"]);
      assert.deepEqual(ofA.slice(-3), ["a1", "a2", "a3"]);
      const ids = receiver.received.filter(({ event }) => labelOf(event) === "a1").map(({ id }) => id);
      assert.ok(ids.length > 1 && new Set(ids).size === 1, "the id is the same on every try");
    });

    test("D36 an event is tried ten times over about 75 hours, and then given up", async (t) => {
      t.after(tearDown);
      const { append, rowOf } = await setUp({ intents: 2 });
      receiver.behave = (event) => (labelOf(event).startsWith("bad") ? 500 : 200);
      await append(0, "bad 1", "next");
      const start = webhooks.clock.now().getTime();
      const tried: number[] = [];
      while (!labels().includes("next")) {
        const count = receiver.received.length;
        await webhooks.work();
        if (receiver.received.length > count) tried.push((webhooks.clock.now().getTime() - start) / HOUR_MS);
        // Others succeed meanwhile, so the endpoint is not taken for one that fails.
        await append(1, `good ${tried.length}`);
        webhooks.clock.advance(HOUR_MS);
      }
      const bad = receiver.received.filter(({ event }) => labelOf(event) === "bad 1");
      assert.equal(bad.length, 10);
      const hours = tried.at(-1) ?? 0;
      assert.ok(hours > 65 && hours < 95, `given up after ${hours} hours`);
      assert.equal((await rowOf())?.status, "enabled");
    });

    test("D36 a receiver that is away for days gets exactly the feed once it is back", async (t) => {
      t.after(tearDown);
      const { append, rowOf, feed } = await setUp({ intents: 3 });
      let isBack = false;
      receiver.behave = () => (isBack ? 200 : 503);
      let sent = 0;
      for (let hours = 0; hours < 24 * 7; hours += 6) {
        await append(sent % 3, `event ${(sent += 1)}`);
        await webhooks.work();
        webhooks.clock.advance(6 * HOUR_MS);
      }
      const disabled = await rowOf();
      assert.deepEqual([disabled?.status, disabled?.disabled_reason], ["disabled", "failing"]);
      const types = (await feed()).map(({ type }) => type).filter((type) => type.startsWith("webhook_endpoint."));
      assert.deepEqual(types, ["webhook_endpoint.failing", "webhook_endpoint.disabled"]);
      isBack = true;
      receiver.received.length = 0;
      for (let round = 0; round < 6; round += 1) {
        webhooks.clock.advance(DAY_MS + 1);
        await webhooks.work();
      }
      assert.equal((await rowOf())?.status, "enabled");
      const expected = (await feed()).filter(({ type }) => !type.startsWith("webhook_endpoint.")).map(({ id }) => id);
      const got = new Set(receiver.received.map(({ id }) => id));
      const missing = (await feed())
        .filter(({ id }) => expected.includes(id) && !got.has(id))
        .map(({ sequence }) => sequence);
      assert.deepEqual(missing, []);
      assert.equal(receiver.received.length, expected.length);
      assert.deepEqual(receiver.received.map(({ id }) => id).toSorted(), expected.toSorted());
      for (const intent of new Set(receiver.received.map(({ event }) => event.intentId))) {
        const sequences = receiver.received.flatMap(({ event }) => (event.intentId === intent ? [event.sequence] : []));
        assert.deepEqual(
          sequences,
          sequences.toSorted((one, other) => one - other),
        );
      }
    });

    test("D36 410 disables at once and for good, and PATCH goes on with what was not delivered", async (t) => {
      t.after(tearDown);
      const { append, rowOf, key } = await setUp();
      receiver.behave = () => 410;
      await append(0, "one", "two");
      await webhooks.work();
      webhooks.clock.advance(3 * DAY_MS);
      await append(0, "three");
      await webhooks.work();
      const gone = await rowOf();
      assert.deepEqual([gone?.status, gone?.disabled_reason, labels()], ["disabled", "gone", ["one"]]);
      receiver.behave = () => 200;
      await changeEndpoint(webhooks.world, key, { status: "enabled" });
      await webhooks.work();
      assert.deepEqual(labels(), ["one", "one", "two", "three"]);
    });

    test("an answer 410 of the URL before a change does not disable the new one, and one 410 of several is told once", async (t) => {
      t.after(tearDown);
      const { append, rowOf, key, feed } = await setUp({ intents: 3 });
      for (const intent of [0, 1, 2]) await append(intent, `of ${intent}`);
      const other = new Receiver();
      t.after(() => other.close());
      const moved = await other.listen();
      receiver.behave = (_, response) => {
        void changeEndpoint(webhooks.world, key, { url: moved }).then(() => response.writeHead(410).end());
        return undefined;
      };
      await webhooks.work();
      assert.equal((await rowOf())?.status, "enabled");
      other.behave = () => 410;
      for (const intent of [0, 1, 2]) await append(intent, `again of ${intent}`);
      webhooks.clock.advance(HOUR_MS);
      await webhooks.work();
      assert.equal((await rowOf())?.disabled_reason, "gone");
      assert.deepEqual(
        (await feed()).map(({ type }) => type).filter((type) => type.startsWith("webhook_endpoint.")),
        ["webhook_endpoint.disabled"],
      );
    });

    test("a replay of old events to a receiver that is away brings nothing else from before the endpoint", async (t) => {
      t.after(tearDown);
      const url = await receiver.listen();
      const { accountId, intents } = await insertAccountWithIntents(db, 1);
      const append = (label: string) =>
        webhooks.appendChanges(accountId, [{ intentNumber: intents[0]?.seq ?? 0n, label }]);
      for (let number = 1; number <= 9; number += 1) await append(`old ${number}`);
      await webhooks.work();
      const { id } = await createEndpoint(webhooks.world, { accountId, input: { url } });
      receiver.behave = () => 500;
      await append("new");
      await redeliver(webhooks.world, { accountId, endpointId: id }, { fromSequence: 2n, toSequence: 2n });
      for (let hours = 0; hours < 24 * 6; hours += 6) {
        await webhooks.work();
        if (hours % 24 === 0) await append(`while away ${hours}`);
        webhooks.clock.advance(6 * HOUR_MS);
      }
      assert.equal((await listEndpointRows(db.root, accountId))[0]?.disabled_reason, "failing");
      receiver.behave = () => 200;
      receiver.received.length = 0;
      for (let round = 0; round < 6; round += 1) {
        webhooks.clock.advance(DAY_MS + 1);
        await webhooks.work();
      }
      assert.deepEqual(
        labels().filter((label) => label.startsWith("old")),
        [],
        "the replay was given up meanwhile",
      );
      assert.ok(labels().includes("new"));
    });

    test("more accounts than one step looks at, whose events were numbered together, all get theirs", async (t) => {
      t.after(tearDown);
      const url = await receiver.listen();
      const accounts: string[] = [];
      for (let shop = 0; shop < 3; shop += 1) {
        const { accountId } = await insertAccountWithIntents(db, 0);
        await createEndpoint(webhooks.world, { accountId, input: { url } });
        accounts.push(accountId);
      }
      await webhooks.work();
      const { rows } = await sql<{
        last: bigint;
      }>`select coalesce(max(revision), 0) as last from event_counter`.execute(db.root);
      for (const accountId of accounts) await webhooks.appendChanges(accountId, [{ intentNumber: null, label: "one" }]);
      await assignEventSequences(webhooks.world);
      await db.transaction((tx) => markBehind(tx, { afterRevision: rows[0]?.last ?? 0n, limit: 2 }));
      const marked = await Promise.all(accounts.map((accountId) => listEndpointRows(db.root, accountId)));
      assert.deepEqual(
        marked.map(([row]) => row?.is_behind),
        [true, true, true],
      );
    });

    test("a deleted endpoint gets nothing more, and its deliveries leave with it", async (t) => {
      t.after(tearDown);
      const { append, key, endpoint } = await setUp();
      receiver.behave = () => 500;
      await append(0, "one", "two");
      await webhooks.work();
      await deleteEndpoint(webhooks.world, key);
      webhooks.clock.advance(HOUR_MS);
      await webhooks.work();
      assert.deepEqual(labels(), ["one"]);
      await assert.rejects(deleteEndpoint(webhooks.world, key), { code: "not_found" });
      while ((await purgeDeliveries(webhooks.world, 500)) > 0);
      await purgeDeliveries(webhooks.world, 500);
      const rows = db.root.selectFrom("webhook_endpoint").select("number").where("id", "=", endpoint.id);
      assert.deepEqual(await rows.execute(), []);
    });

    test("D35 the old secret signs beside the new one for a day", async (t) => {
      t.after(tearDown);
      const { append, endpoint, key } = await setUp();
      const rotated = await rotateSecret(webhooks.world, key);
      await append(0, "both");
      await webhooks.work();
      webhooks.clock.advance(DAY_MS + 1);
      await append(0, "new");
      await webhooks.work();
      const signed = (secret: Uint8Array) => receiver.received.map((each) => hasSignature(each, secret));
      assert.deepEqual(
        [signed(rotated.secret), signed(endpoint.secret)],
        [
          [true, true],
          [true, false],
        ],
      );
    });

    test("D35 a test event reaches this endpoint alone and stands in no feed; a replay reaches back", async (t) => {
      t.after(tearDown);
      const { append, feed, key } = await setUp({ types: ["account.*"] });
      await append(0, "one", "two");
      await webhooks.work();
      const sent = await sendTest(webhooks.world, key);
      await webhooks.work();
      assert.deepEqual(receiver.received.at(-1)?.event, sent);
      assert.equal((await feed()).length, 2);
      assert.deepEqual(await redeliver(webhooks.world, key, { fromSequence: 1n, toSequence: 2n }), { count: 2 });
      const [, second] = await feed();
      assert.deepEqual(await redeliver(webhooks.world, key, { eventId: second?.id ?? "" }), { count: 1 });
      await webhooks.work();
      assert.deepEqual(labels().slice(-3), ["one", "two", "two"]);
    });

    test("one endpoint that hangs delays no other, and its own other intents by one request at most", async (t) => {
      t.after(tearDown);
      const hanging = await setUp({ intents: 2 });
      receiver.behave = (event) => (labelOf(event).startsWith("hang") ? undefined : 200);
      const healthy = await createEndpoint(webhooks.world, {
        accountId: hanging.accountId,
        input: { url: `${hanging.url}/healthy`, types: ["account.*"] },
      });
      await hanging.append(0, "hang 1", "hang 2");
      await hanging.append(1, "fine 1", "fine 2");
      await webhooks.work();
      const ofHealthy = receiver.received.filter((each) => hasSignature(each, healthy.secret));
      assert.deepEqual(ofHealthy.map(({ event }) => labelOf(event)).toSorted(), ["fine 1", "fine 2", "hang 1"]);
      const ofHanging = receiver.received.filter((each) => hasSignature(each, hanging.endpoint.secret));
      assert.deepEqual(ofHanging.map(({ event }) => labelOf(event)).toSorted(), ["fine 1", "fine 2", "hang 1"]);
    });

    test("a process whose lease has ended writes nothing, and another one delivers again", async (t) => {
      t.after(tearDown);
      const { append, key } = await setUp();
      await append(0, "one", "two");
      receiver.behave = (event) => {
        // While this request is open, the lease ends and another process takes over.
        if (receiver.received.length === 1) webhooks.clock.advance(61_000);
        return labelOf(event) === "" ? 500 : 200;
      };
      const other = openWebhooks(db);
      t.after(() => other.close());
      await webhooks.work();
      other.clock.advance(62_000);
      await other.work();
      await webhooks.work();
      const delivered = labels();
      assert.deepEqual([...new Set(delivered)], ["one", "two"]);
      assert.equal((await redeliver(webhooks.world, key, { fromSequence: 1n, toSequence: 2n })).count, 2);
    });
  });
}

function labelOf({ data }: Pick<ReceivedEvent, "data">): string {
  return String(Reflect.get(data.object, "label"));
}
