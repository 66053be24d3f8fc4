import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { idBytes } from "../kernel/ids.ts";
import { shownColumns, showEvent, type EventRecord, type ShownEventRow } from "./showEvent.ts";

export type EventQuery = { accountId: string; afterSequence: bigint; limit: number; intentId?: string };

/** Lists an account's events after a sequence, in order and without gaps. */
export async function listEvents(db: Db, query: EventQuery): Promise<EventRecord[]> {
  const { rows } = await sql<ShownEventRow>`
    select ${sql.raw(shownColumns("event"))}
    from event left join intent on intent.seq = event.intent_number
    where event.account_number = (select number from account where id = ${query.accountId})
      and event.sequence is not null and event.sequence > ${query.afterSequence}
      and ${query.intentId === undefined ? sql`true` : ofIntent(query.intentId)}
    order by event.sequence limit ${query.limit}`.execute(db.root);
  return rows.map(showEvent);
}

export type LatestEventsQuery = {
  /** Undefined: events of every account. */
  accountId: string | undefined;
  intentId: string | undefined;
  /** An event's id: only events before it. */
  beforeId: string | undefined;
  limit: number;
};

export type AccountEvent = EventRecord & { accountId: string };

/** Lists the latest events, newest first: of one account by their sequence, else in the order of their insertion. */
export async function listLatestEvents(db: Db, query: LatestEventsQuery): Promise<AccountEvent[]> {
  const { accountId, intentId, beforeId, limit } = query;
  const order = sql.ref(accountId === undefined ? "event.position" : "event.sequence");
  const last = sql.ref(accountId === undefined ? "last.position" : "last.sequence");
  const conditions = [
    sql`event.sequence is not null`,
    ...(accountId === undefined
      ? []
      : [sql`event.account_number = (select number from account where id = ${accountId})`]),
    ...(intentId === undefined ? [] : [ofIntent(intentId)]),
    ...(beforeId === undefined
      ? []
      : [sql`${order} < (select ${last} from event as last where last.id = ${eventIdBytes(beforeId)})`]),
  ];
  const { rows } = await sql<ShownEventRow & { accountId: string }>`
    select ${sql.raw(shownColumns("event"))}, account.id as "accountId"
    from event join account on account.number = event.account_number left join intent on intent.seq = event.intent_number
    where ${sql.join(conditions, sql` and `)} order by ${order} desc limit ${limit}`.execute(db.root);
  return rows.map((row) => ({ accountId: row.accountId, ...showEvent(row) }));
}

/** The account of an event; undefined for an unknown id. */
export async function findAccountOfEvent(db: Db, eventId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select account.id from event join account on account.number = event.account_number
    where event.id = ${eventIdBytes(eventId)}`.execute(db.root);
  return rows[0]?.id;
}

function ofIntent(intentId: string) {
  return sql<boolean>`event.intent_number = (select seq from intent where id = ${intentId})`;
}

/** Empty for a text that is no id of an event, which finds none. */
function eventIdBytes(id: string): Uint8Array {
  return idBytes("evt", id) ?? new Uint8Array();
}
