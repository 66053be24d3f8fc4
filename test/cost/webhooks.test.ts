import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { array } from "../../src/db/parameters.ts";
import { findEvent, readFeed } from "../../src/event/listEvents.ts";
import { readLastSequences } from "../../src/event/lastSequences.ts";
import { webhookDeliveryRecord, listDeliveries } from "../../src/webhook/listDeliveries.ts";
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  rotateSecret,
} from "../../src/webhook/endpoint/manageEndpoints.ts";
import { leaseEndpoints, renewLeases } from "../../src/webhook/endpoint/endpointStore.ts";
import type { WebhookEndpoint } from "../../src/webhook/endpoint/endpoint.ts";
import { purgeDeliveries } from "../../src/webhook/purgeDeliveries.ts";
import { redeliver, sendTest } from "../../src/webhook/redeliver.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { insertAccountWithIntents, openWebhooks, Receiver } from "../support/webhooks.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { formatOffenders, listOffenders, shortenText, type MeasuredStatement } from "./measureCourses.ts";
import { recordStatements } from "./recordStatements.ts";

// What the station webhook reads after 20,000 events with a delivery each: to deliver, to fan out, to replay, to heal, to
// show and to delete.

const EVENTS = 20_000;
const ACCOUNTS = 20;
const INTENTS = 5;
/** Of an account's events, the newest wait: they were not delivered yet. */
const WAITING_PERCENT = 20;
const DAY_MS = 86_400_000;
const PURGE_MAX = 50;

/** Even: each account has as many events. Skewed: one has nineteen of twenty. */
const SETTINGS = (["even", "skewed"] as const).flatMap((shape) =>
  (["never", "now"] as const).map((analysed) => ({ shape, analysed })),
);

let server: PostgresServer;
before(async () => {
  server = await startOwnServer();
});
after(() => server.remove());

for (const { shape, analysed } of SETTINGS)
  test(`no statement of webhooks reads rows in proportion to history (${shape}, analysed ${analysed})`, async (t) => {
    const name = `webhooks_${shape}_${analysed}`;
    const url = await createDatabaseOn(server, name);
    const first = await openDatabase({ url, allowUnsafeFsync: true });
    const receiver = new Receiver();
    t.after(() => receiver.close());
    const shops = await fill(first, { isSkewed: shape === "skewed", receiverUrl: await receiver.listen() });
    if (analysed === "now") await sql`vacuum (analyze)`.execute(first.root);
    await first.close();
    const log = await recordStatements(server, name);
    const db = await openDatabase({ url, allowUnsafeFsync: true });
    t.after(() => db.close());
    await useWebhooks(db, { shops, receiver });
    const measured = new Map<string, MeasuredStatement>();
    for (const { text, cost } of await log.take()) {
      const known = measured.get(shortenText(text));
      if (known === undefined || cost.readRows > known.cost.readRows)
        measured.set(shortenText(text), { text: shortenText(text), course: "webhooks", cost });
    }
    const offenders = listOffenders(measured);
    assert.equal(offenders.length, 0, formatOffenders(offenders));
    for (const part of ["lease_healthy_webhook_endpoints", "add_webhook_deliveries", "list_due_webhook_deliveries"])
      assert.ok(
        [...measured.keys()].some((text) => text.includes(part)),
        `${part} did not run`,
      );
  });

type Shop = { accountId: string; intents: bigint[]; endpoint: WebhookEndpoint };

/** Accounts with an endpoint each. The first one is the busiest; the second one's endpoint was disabled by failures. */
async function fill(
  db: Db,
  { isSkewed, receiverUrl }: { isSkewed: boolean; receiverUrl: string },
): Promise<readonly Shop[]> {
  const webhooks = openWebhooks(db);
  const shops: Shop[] = [];
  for (let account = 0; account < ACCOUNTS; account += 1) {
    const { accountId, intents } = await insertAccountWithIntents(db, INTENTS);
    const endpoint = await createEndpoint(webhooks.world, { accountId, input: { url: receiverUrl } });
    await webhooks.appendChanges(accountId, [{ intentNumber: intents[0]?.seq ?? null, label: "pattern" }]);
    shops.push({ accountId, intents: intents.map(({ seq }) => seq), endpoint });
  }
  await webhooks.work();
  await webhooks.close();
  const place = isSkewed ? sql`case when n % 20 > 0 then 0 else n / 20 % ${ACCOUNTS} end` : sql`n % ${ACCOUNTS}`;
  const intents = array(
    shops.flatMap((shop) => shop.intents),
    "int8",
  );
  const accountIds = array(
    shops.map(({ accountId }) => accountId),
    "text",
  );
  // Each event is the pattern of its account with another sequence.
  await sql`
    insert into event (sequence, intent_number, created_at, account_number, type, format, livemode, id, content)
    select 1 + row_number() over (partition by place order by n), (${intents})[place * ${INTENTS} + n / 20 % ${INTENTS} + 1],
      pattern.created_at, pattern.account_number, pattern.type, pattern.format, pattern.livemode, decode(md5(n::text), 'hex'), pattern.content
    from (select n, (${place})::int as place from generate_series(1, ${EVENTS}) as n) as made
    join account on account.id = (${accountIds})[place + 1]
    join event pattern on pattern.account_number = account.number and pattern.sequence = 1`.execute(db.root);
  await sql`
    update event_counter set last_sequence = newest.last from (select account_number, max(sequence) as last from event group by 1) as newest
    where newest.account_number = event_counter.account_number`.execute(db.root);
  const waiting = sql`sequence > (100 - ${WAITING_PERCENT}) * last_sequence / 100`;
  await sql`
    insert into webhook_delivery (endpoint_number, event_position, sequence, intent_number, is_replay, status, tries, created_at, closed_at)
    select endpoint.number, event.position, event.sequence, event.intent_number, false,
      case when ${waiting} then 'pending' when sequence % 7 = 0 then 'failed' else 'succeeded' end, 1, event.created_at,
      case when not (${waiting}) then event.created_at - interval '40 days' * (sequence::numeric / last_sequence) end
    from event join event_counter using (account_number) join account on account.number = event.account_number
    join webhook_endpoint endpoint on endpoint.account_id = account.id where event.sequence > 1`.execute(db.root);
  await sql`
    insert into webhook_attempt (endpoint_number, delivery_number, attempt, at, url, status_code, total_ms)
    select endpoint_number, number, 1, created_at, 'https://shop.example', 500, 10 from webhook_delivery where status = 'failed'`.execute(
    db.root,
  );
  // What waits is tried again tomorrow.
  await sql`
    update webhook_delivery set due_at = now() + interval '1 day', due_since = now() where number in (
      select distinct on (endpoint_number, intent_number) number from webhook_delivery where status = 'pending'
      order by endpoint_number, intent_number, sequence)`.execute(db.root);
  await sql`
    update webhook_endpoint set fanned_sequence = last_sequence, due_at = now() + interval '1 day', due_since = now()
    from account join event_counter on event_counter.account_number = account.number where account.id = webhook_endpoint.account_id`.execute(
    db.root,
  );
  await sql`
    update webhook_endpoint set status = 'disabled', disabled_reason = 'failing', failing_since = now() - interval '6 days',
      failing_reported_at = now(), undelivered_sequence = greatest(2, fanned_sequence - 100), due_at = now(), due_since = now()
    where number = ${shops[1]?.endpoint.number ?? 0}`.execute(db.root);
  return shops;
}

type Use = { shops: readonly Shop[]; receiver: Receiver };

/** Everything that the station does, with new events of each account. */
async function useWebhooks(db: Db, { shops, receiver }: Use): Promise<void> {
  const webhooks = openWebhooks(db);
  const { world, clock } = webhooks;
  const [busy, , other] = shops;
  assert.ok(busy && other);
  const append = async () => {
    for (const { accountId, intents } of shops) {
      const changes = [intents[0] ?? null, null].map((intentNumber) => ({ intentNumber, label: "new" }));
      await webhooks.appendChanges(accountId, changes);
    }
  };
  receiver.behave = ({ intentId }) => (intentId === null ? 204 : 500);
  await append();
  await webhooks.work();
  receiver.behave = () => 204;
  const key = { accountId: busy.accountId, endpointId: busy.endpoint.id };
  await redeliver(world, key, { fromSequence: 100n, toSequence: 140n });
  await sendTest(world, key);
  await webhooks.work();
  const leases = await leaseEndpoints(db, { at: clock.now(), isFailing: false, limit: 64, accountMax: 8 });
  await renewLeases(db, { leases: [...leases, { endpoint: busy.endpoint, token: 1n }], at: clock.now() });
  await show(db, busy);
  await rotateSecret(world, key);
  await changeEndpoint(world, key, { status: "disabled" });
  await changeEndpoint(world, key, { status: "enabled" });
  await purgeDeliveries(world, PURGE_MAX);
  await deleteEndpoint(world, { accountId: other.accountId, endpointId: other.endpoint.id });
  await purgeDeliveries(world, PURGE_MAX);
  // Three days without success, with an event that is raised.
  receiver.behave = () => 500;
  clock.advance(3 * DAY_MS);
  await append();
  await webhooks.work();
  await webhooks.close();
}

/** The pages of deliveries and of the feed. */
async function show(db: Db, { accountId, endpoint }: Shop): Promise<void> {
  const feed = { accountId, types: undefined, intentId: undefined, limit: 100 };
  const { id } = (await readFeed(db, { ...feed, after: 10n })).events[0] ?? assert.fail();
  await readFeed(db, { ...feed, after: 0n });
  assert.ok(await findEvent(db, { accountId, eventId: id }));
  await readLastSequences(db, [accountId]);
  const page = { endpointNumber: endpoint.number, below: undefined, limit: 20, status: undefined, eventId: undefined };
  const queries = [page, { ...page, status: "failed" as const }, { ...page, eventId: id }];
  for (const query of queries) {
    const { rows } = await listDeliveries(db, query);
    assert.ok(rows.map(webhookDeliveryRecord).length > 0);
  }
}
