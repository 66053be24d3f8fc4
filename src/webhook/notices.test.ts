import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import {
  hasSignature,
  insertAccountWithIntents,
  openWebhooks,
  Receiver,
  type Received,
} from "../../test/support/webhooks.ts";
import { checkRows } from "../alarm/checkRows.ts";
import type { Db } from "../db/database.ts";
import { assignEventSequences } from "../event/assignEventSequences.ts";
import { DAY_MS } from "../kernel/clock.ts";
import { secretText } from "./endpoint/endpoint.ts";
import { createEndpoint, rotateSecret } from "./endpoint/manageEndpoints.ts";
import { sendNotices } from "./notice/sendNotices.ts";
import { setNotifyUrl } from "./notice/setNotifyUrl.ts";

const HOUR_MS = 3_600_000;

for (const kind of thoroughDatabases) {
  describe(`notices and alarms of webhooks on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    async function setUp(t: { after(end: () => Promise<void>): void }) {
      const webhooks = openWebhooks(db, { timeoutMs: 2_000 });
      const receiver = new Receiver();
      t.after(async () => {
        receiver.close();
        await webhooks.close();
        await db.root
          .updateTable("webhook_endpoint")
          .set({ failing_since: null, due_at: null, due_since: null })
          .execute();
      });
      const url = await receiver.listen();
      const { accountId } = await insertAccountWithIntents(db, 0);
      const endpoint = await createEndpoint(webhooks.world, { accountId, input: { url: `${url}/shop` } });
      const append = (label: string) => webhooks.appendChanges(accountId, [{ intentNumber: null, label }]);
      const alarms = async () =>
        (await checkRows(webhooks.world)).filter(({ alarm }) => alarm === "webhook_failing" || alarm === "feed_behind");
      return { webhooks, receiver, url, accountId, endpoint, append, alarms };
    }

    test("D36 two foreign libraries verify what is delivered, with the new and the old secret", async (t) => {
      const { webhooks, receiver, accountId, endpoint, append } = await setUp(t);
      const { secret } = await rotateSecret(webhooks.world, { accountId, endpointId: endpoint.id });
      await append("Zürich → 東京 \u2028 💸");
      await webhooks.work();
      const [received] = receiver.received;
      assert.ok(received);
      for (const signing of [secret, endpoint.secret])
        for (const Webhook of [StandardWebhook, SvixWebhook]) {
          new Webhook(secretText(signing)).verify(received.body, signatureOf(received));
          const changed = received.body.replace("Zürich", "Zurich");
          assert.throws(() => new Webhook(secretText(signing)).verify(changed, signatureOf(received)));
        }
    });

    test("D35 a failing endpoint is told at another URL, tried three times within an hour, and alarms the operator", async (t) => {
      const { webhooks, receiver, url, accountId, append, alarms } = await setUp(t);
      const notification = await setNotifyUrl(webhooks.world, { accountId, url: `${url}/notices` });
      receiver.behave = () => 500;
      for (let hours = 0; hours < 66; hours += 6) {
        await append(`at ${hours}`);
        await webhooks.work();
        webhooks.clock.advance(6 * HOUR_MS);
      }
      receiver.received.length = 0;
      for (const waitMs of [0, 5 * 60_000, 50 * 60_000, HOUR_MS]) {
        webhooks.clock.advance(waitMs);
        await sendNotices(webhooks.world);
      }
      const notices = receiver.received;
      assert.equal(notices.length, 3);
      const [notice] = notices;
      assert.ok(notice && hasSignature(notice, notification?.secret ?? new Uint8Array()));
      assert.deepEqual(JSON.parse(notice.body).type, "webhook_endpoint.failing");
      assert.equal(JSON.parse(notice.body).accountId, accountId);
      const failing = (await alarms()).find(({ alarm }) => alarm === "webhook_failing");
      assert.deepEqual([failing?.facts["endpoints"], failing?.facts["account"]], [1, accountId]);
      receiver.behave = () => 200;
      for (let day = 0; day < 2; day += 1) {
        webhooks.clock.advance(DAY_MS + HOUR_MS);
        await webhooks.work();
      }
      assert.deepEqual(await alarms(), []);
      // An endpoint that says itself that it is gone is nothing that an operator can mend.
      receiver.behave = () => 500;
      for (let hours = 0; hours < 66; hours += 6) {
        await append(`again at ${hours}`);
        await webhooks.work();
        webhooks.clock.advance(6 * HOUR_MS);
      }
      assert.equal((await alarms()).length, 1);
      receiver.behave = () => 410;
      webhooks.clock.advance(DAY_MS);
      await webhooks.work();
      assert.deepEqual(await alarms(), []);
      await setNotifyUrl(webhooks.world, { accountId, url: null });
      await assert.rejects(setNotifyUrl(webhooks.world, { accountId, url: "http://10.0.0.1/" }), {
        param: "notifyUrl",
      });
    });

    test("events without a number, and endpoints without a turn, alarm the operator", async (t) => {
      const { webhooks, append, alarms } = await setUp(t);
      await webhooks.work();
      assert.deepEqual(await alarms(), []);
      await append("one");
      webhooks.clock.advance(121_000);
      const [unnumbered] = await alarms();
      assert.equal(unnumbered?.alarm, "feed_behind");
      assert.ok(unnumbered.facts["unnumberedSince"]);
      while (!(await assignEventSequences(webhooks.world)).isDone);
      assert.deepEqual(await alarms(), []);
      await webhooks.work();
      assert.deepEqual(await alarms(), []);
    });
  });
}

function signatureOf({ headers }: Received): Record<string, string> {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}
