import { sql, type Insertable, type RawBuilder } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array, unnest } from "../db/parameters.ts";
import type { WebhookAttemptTable, WebhookDeliveryStatus, WebhookDeliveryTable } from "./webhookTables.ts";
import { shownColumns, type ShownEventRow } from "../event/showEvent.ts";
import { EVENT_TYPES } from "../event/event.ts";
import { behind } from "../event/namedIndexes.ts";
import { latestSince, type WebhookAttempt, type WebhookDelivery } from "./delivery.ts";
import { wantedTypes, type WebhookEndpoint } from "./endpoint/endpoint.ts";

/** Of an endpoint itself, these events go to the other endpoints only. */
const OWN_TYPES = [EVENT_TYPES["webhook_endpoint.failing"], EVENT_TYPES["webhook_endpoint.disabled"]];

export type FanOutResult = { lastSequence: bigint | null; read: number; added: number };

/**
 * Adds the deliveries of the next events of an endpoint's account. Those that were given up are opened again, which
 * only happens when the endpoint starts anew behind them. The caller holds the endpoint's lock.
 */
export async function addDeliveries(
  tx: Tx,
  { endpoint, at, limit }: { endpoint: WebhookEndpoint; at: Date; limit: number },
): Promise<FanOutResult> {
  const isWanted = isTypeWanted(endpoint, "batch");
  const { rows } = await sql<FanOutResult & { intents: bigint[] | null }>`/* named: add_webhook_deliveries */
    with batch as (
      select event.sequence, event.position, event.intent_number, event.type, event.content from event
      where ${behind(sql`(select number from account where id = ${endpoint.account_id})`, endpoint.fanned_sequence)}
      order by event.account_number, event.sequence limit ${limit}
    ), added as (
      insert into webhook_delivery as delivery (endpoint_number, event_position, sequence, intent_number, is_replay, status,
        tries, due_at, due_since, created_at)
      select ${endpoint.number}, batch.position, batch.sequence, batch.intent_number, false, 'pending', 0,
        ${dueAlone("batch", at)}, ${dueAlone("batch", at)}, ${at}
      from batch
      where ${isWanted} and not (batch.type = any(${array(OWN_TYPES, "int4")})
        and batch.content -> 0 ->> 'webhookEndpointId' = ${endpoint.id})
      order by batch.sequence
      on conflict (endpoint_number, event_position) where not is_replay do update
        set status = 'pending', closed_at = null, due_at = excluded.due_at, due_since = excluded.due_since, tries_before = delivery.tries
        where delivery.status = 'failed'
      returning delivery.intent_number, delivery.sequence, delivery.tries
    ), held_back as (
      update webhook_delivery later set due_at = null, due_since = null from added
      where added.tries > 0 and later.endpoint_number = ${endpoint.number} and later.intent_number = added.intent_number
        and later.sequence > added.sequence and not later.is_replay and later.status = 'pending' and later.due_at is not null
    )
    select (select max(sequence) from batch) as "lastSequence", (select count(*)::int from batch) as read,
      (select count(*)::int from added) as added,
      (select array_agg(distinct intent_number) from added where intent_number is not null) as intents`.execute(tx);
  const { intents, ...result } = rows[0] ?? { lastSequence: null, read: 0, added: 0, intents: null };
  const lanes = (intents ?? []).map((intent_number) => ({ intent_number, is_replay: false }));
  await releaseNext(tx, { endpointNumber: endpoint.number, lanes, at });
  return result;
}

/** An event of no intent waits for none. */
function dueAlone(event: string, at: Date) {
  return sql`case when ${sql.ref(`${event}.intent_number`)} is null then ${at}::timestamptz end`;
}

function isTypeWanted({ types }: WebhookEndpoint, event: string) {
  const wanted = wantedTypes(types);
  return sql<boolean>`(${wanted === undefined}::boolean or ${sql.ref(`${event}.type`)} = any(${array(wanted ?? [], "int4")}))`;
}

/** Adds replays of events between two sequences, and returns their number. The caller holds the endpoint's lock. */
export async function addReplays(
  tx: Tx,
  { endpoint, at, from, to }: { endpoint: WebhookEndpoint; at: Date; from: bigint; to: bigint },
): Promise<number> {
  const { rows } = await sql<{ intent_number: bigint | null }>`
    insert into webhook_delivery (endpoint_number, event_position, sequence, intent_number, is_replay, status, tries, due_at,
      due_since, created_at)
    select ${endpoint.number}, event.position, event.sequence, event.intent_number, true, 'pending', 0,
      ${dueAlone("event", at)}, ${dueAlone("event", at)}, ${at}
    from event
    where event.account_number = (select number from account where id = ${endpoint.account_id})
      and event.sequence is not null and event.sequence between ${from} and ${to} and ${isTypeWanted(endpoint, "event")}
    order by event.sequence returning intent_number`.execute(tx);
  const intents = new Set(rows.flatMap(({ intent_number: intent }) => intent ?? []));
  const lanes = [...intents].map((intent_number) => ({ intent_number, is_replay: true }));
  await releaseNext(tx, { endpointNumber: endpoint.number, lanes, at });
  return rows.length;
}

/** Adds a test event, which is in no feed. The caller holds the endpoint's lock. */
export async function addTest(tx: Tx, test: { endpointNumber: number; event: object; at: Date }): Promise<void> {
  const row: Insertable<WebhookDeliveryTable> = {
    endpoint_number: test.endpointNumber,
    event_position: null,
    sequence: 0n,
    intent_number: null,
    is_replay: true,
    test_event: test.event,
    status: "pending",
    tries: 0,
    due_at: test.at,
    due_since: test.at,
    created_at: test.at,
    closed_at: null,
  };
  await tx.insertInto("webhook_delivery").values(row).execute();
}

/** A delivery with what its event shows. `position` is null for a test event, and where the event was purged. */
export type DueDelivery = Pick<
  WebhookDelivery,
  "number" | "sequence" | "intent_number" | "is_replay" | "tries" | "tries_before" | "test_event"
> & { eventPosition: bigint | null } & ShownEventRow;

const DELIVERY_COLUMNS = ["number", "intent_number", "is_replay", "tries", "tries_before", "test_event"];

function selectDue(deliveries: RawBuilder<unknown>) {
  const own = DELIVERY_COLUMNS.map((column) => `delivery.${column}`);
  return sql`select ${sql.raw([...own, shownColumns("event")].join())}, event.position as "eventPosition",
      delivery.sequence as sequence
    from ${deliveries} left join event on event.position = delivery.event_position
      left join intent on intent.seq = event.intent_number`;
}

type DueQuery = { endpointNumber: number; at: Date; limit: number; except: readonly bigint[] };

/**
 * Deliveries that are due, those that wait longest first, without the given ones. A wait that began in the future is
 * over: the clock has stepped back.
 */
export async function listDue(db: Db, query: DueQuery): Promise<DueDelivery[]> {
  const due = sql`(${selectNumbers(query, sql`due_at <= ${query.at}`)} union
      ${selectNumbers(query, sql`due_since > ${latestSince(query.at)}`)}) as due
    cross join lateral (
      select * from webhook_delivery where endpoint_number = ${query.endpointNumber} and number = due.number offset 0
    ) as delivery`;
  const { rows } = await sql<DueDelivery>`/* named: list_due_webhook_deliveries */
    ${selectDue(due)}
    order by delivery.due_at, delivery.number limit ${query.limit}`.execute(db.root);
  return rows;
}

function selectNumbers({ endpointNumber, limit, except }: DueQuery, condition: RawBuilder<unknown>) {
  return sql`(select number from webhook_delivery where endpoint_number = ${endpointNumber} and ${condition}
    and number <> all(${array(except, "int8")}) order by due_at, number limit ${limit})`;
}

/** The oldest event of the feed that is pending, due or not; where none is, the oldest replay or test event. */
export async function findOldest(db: Db, endpointNumber: number): Promise<DueDelivery | undefined> {
  const { rows } = await sql<DueDelivery>`
    ${selectDue(sql`webhook_delivery delivery`)}
    where delivery.endpoint_number = ${endpointNumber} and delivery.status = 'pending'
    order by delivery.is_replay, delivery.sequence limit 1`.execute(db.root);
  return rows[0];
}

export type ClosedTry = {
  number: bigint;
  status: WebhookDeliveryStatus;
  tries: number;
  due_at: Date | null;
  due_since: Date | null;
  closed_at: Date | null;
};

/** Writes the results of tries. The caller holds the endpoint's lock and lease. */
export async function writeTries(
  tx: Tx,
  {
    endpointNumber,
    tries,
    attempts,
  }: { endpointNumber: number; tries: readonly ClosedTry[]; attempts: readonly WebhookAttempt[] },
): Promise<void> {
  if (tries.length === 0) return;
  const rows = unnest("tried", tries, {
    number: "int8",
    status: "text",
    tries: "int4",
    due_at: "timestamptz",
    due_since: "timestamptz",
    closed_at: "timestamptz",
  });
  await sql`
    update webhook_delivery set status = tried.status, tries = tried.tries, due_at = tried.due_at,
      due_since = tried.due_since, closed_at = tried.closed_at
    from ${rows} where webhook_delivery.endpoint_number = ${endpointNumber} and webhook_delivery.number = tried.number`.execute(
    tx,
  );
  const values: Insertable<WebhookAttemptTable>[] = [...attempts];
  if (values.length > 0)
    await tx
      .insertInto("webhook_attempt")
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}

export type Lane = { intent_number: bigint; is_replay: boolean };

/**
 * Makes the next event of each intent due. The caller holds the endpoint's lock, so that no row moves meanwhile. A range
 * of one intent and places of rows keep the planner from reading what waits of all intents.
 */
export async function releaseNext(
  tx: Tx,
  { endpointNumber, lanes, at }: { endpointNumber: number; lanes: readonly Lane[]; at: Date },
): Promise<void> {
  if (lanes.length === 0) return;
  await sql`
    update webhook_delivery set due_at = ${at}, due_since = ${at}
    where due_at is null and status = 'pending' and ctid = any(array(
      select (select next.ctid from webhook_delivery next
        where next.endpoint_number = ${endpointNumber} and next.intent_number >= lane.intent_number
          and next.intent_number <= lane.intent_number and next.is_replay = lane.is_replay and next.status = 'pending'
        order by next.intent_number, next.is_replay, next.sequence, next.number limit 1)
      from ${unnest("lane", lanes, { intent_number: "int8", is_replay: "boolean" })}))`.execute(tx);
}

/** When the first delivery of an endpoint is due; null when none is. */
export async function findNextDue(tx: Tx, { endpointNumber, at }: { endpointNumber: number; at: Date }) {
  const { rows } = await sql<{ due: Date | null; isStale: boolean }>`
    select (select due_at from webhook_delivery where endpoint_number = ${endpointNumber} and due_at is not null
        order by due_at limit 1) as due,
      exists (select from webhook_delivery where endpoint_number = ${endpointNumber} and due_since > ${latestSince(at)}) as "isStale"
  `.execute(tx);
  return rows[0]?.isStale === true ? at : (rows[0]?.due ?? null);
}

/** The sequence of the oldest pending event of the feed. Replays reach back as far as somebody asks, and are not counted. */
export async function findOldestSequence(tx: Tx, endpointNumber: number): Promise<bigint | null> {
  const row = await tx
    .selectFrom("webhook_delivery")
    .select("sequence")
    .where("endpoint_number", "=", endpointNumber)
    .where("status", "=", "pending")
    .where("is_replay", "=", false)
    .where("sequence", ">", 0n)
    .orderBy("sequence")
    .limit(1)
    .executeTakeFirst();
  return row?.sequence ?? null;
}

/** Whether at least `count` replays and test events wait. */
export async function hasPendingReplays(tx: Tx, query: { endpointNumber: number; count: number }): Promise<boolean> {
  const { rows } = await sql`
    select 1 from webhook_delivery where endpoint_number = ${query.endpointNumber} and is_replay and status = 'pending'
    limit 1 offset ${query.count - 1}`.execute(tx);
  return rows.length > 0;
}

/** Deletes up to `limit` closed deliveries from before a time, with their attempts. */
export async function deleteOldDeliveries(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from webhook_delivery where (endpoint_number, number) in (
      select endpoint_number, number from webhook_delivery where closed_at < ${before} order by closed_at limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows);
}

/** Deletes up to `limit` deliveries of deleted endpoints, with their attempts. */
export async function deleteDeliveriesOfDeleted(tx: Tx, { limit }: { limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from webhook_delivery where (endpoint_number, number) in (
      select delivery.endpoint_number, delivery.number
      from (select number from webhook_endpoint where deleted_at is not null
          and exists (select from webhook_delivery where endpoint_number = webhook_endpoint.number)
        order by deleted_at limit 10) as deleted
      cross join lateral (
        select endpoint_number, number from webhook_delivery where endpoint_number = deleted.number limit ${limit}) as delivery
      limit ${limit})`.execute(tx);
  return Number(numAffectedRows);
}
