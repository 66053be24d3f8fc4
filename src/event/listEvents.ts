import { sql } from "kysely";
import { behind } from "./namedIndexes.ts";
import type { Db } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import { assert } from "../kernel/assert.ts";
import { Fault } from "../kernel/faults.ts";
import { idBytes } from "../kernel/ids.ts";
import { EVENT_TYPES } from "./event.ts";
import { RESTORED_SKIP } from "./store.ts";
import { shownColumns, showEvent, type EventRecord, type ShownEventRow } from "./showEvent.ts";

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

export type FeedQuery = {
  accountId: string;
  after: bigint;
  limit: number;
  /** The numbers of the wanted types; undefined for every one. */
  types: readonly number[] | undefined;
  intentId: string | undefined;
};

export type FeedPage = { events: EventRecord[]; hasMore: boolean; nextAfter: bigint };

/** Events that one filtered page reads at most, so that it takes bounded time however rare its events are. */
const READ_MAX = 10_000;

/**
 * Reads the page of an account's feed behind a sequence. A filtered page may be empty although more follows. Throws
 * events_expired when the retention has deleted the next event.
 */
export async function readFeed(db: Db, query: FeedQuery): Promise<FeedPage> {
  const { after, limit, types, intentId } = query;
  const isFiltered = types !== undefined || intentId !== undefined;
  const ofIntent =
    intentId === undefined ? sql`true` : sql`read.intent_number = (select seq from intent where id = ${intentId})`;
  const { rows } = await sql<FeedPlan>`
    with account_of as (select number from account where id = ${query.accountId}), read as (
      select position, sequence, type, intent_number from event
      where ${behind(sql`(select number from account_of)`, after)}
      order by account_number, sequence limit ${isFiltered ? READ_MAX : limit + 1}
    ), found as (
      select position, sequence from read
      where ${types === undefined ? sql`true` : sql`read.type = any(${array(types, "int4")})`} and ${ofIntent}
      order by sequence limit ${limit + 1}
    )
    select (select array_agg(position order by sequence) from found) as positions,
      (select count(*)::int from read) as "readCount", (select min(sequence) from read) as "firstRead",
      (select type from read order by sequence limit 1) as "firstType",
      (select max(sequence) from read) as "lastRead",
      coalesce((select last_sequence from event_counter where account_number = (select number from account_of)), 0) as last,
      exists (select from event where account_number = (select number from account_of) and sequence is not null
        and sequence <= ${after}) as "hasEarlier"`.execute(db.root);
  const [plan] = rows;
  assert(plan !== undefined, "a statement without tables returns a row");
  rejectExpired(plan, after);
  const positions = plan.positions ?? [];
  const events = await listByPosition(db, positions.slice(0, limit));
  const isCut = positions.length > limit;
  const lastShown = events.at(-1)?.sequence;
  const nextAfter = isCut && lastShown !== undefined ? BigInt(lastShown) : (plan.lastRead ?? after);
  return { events, hasMore: isCut || (isFiltered && plan.readCount === READ_MAX), nextAfter };
}

type FeedPlan = {
  positions: bigint[] | null;
  readCount: number;
  firstRead: bigint | null;
  firstType: number | null;
  lastRead: bigint | null;
  last: bigint;
  hasEarlier: boolean;
};

/**
 * Sequences skip only before `account.feed_restored`, so another missing one was deleted, unless an earlier one is
 * still there.
 */
function rejectExpired({ firstRead, firstType, last, hasEarlier }: FeedPlan, after: bigint): void {
  const oldest = firstRead ?? last + 1n;
  const isRestored = firstType === EVENT_TYPES["account.feed_restored"];
  const next = after + (isRestored ? RESTORED_SKIP : 1n);
  const isMissing = firstRead === null ? last > after : firstRead > next;
  if (isMissing && !hasEarlier) throw new Fault("events_expired", { details: { oldestSequence: Number(oldest) } });
}

async function listByPosition(db: Db, positions: readonly bigint[]): Promise<EventRecord[]> {
  const { rows } = await sql<ShownEventRow>`
    select ${sql.raw(shownColumns("event"))} from event left join intent on intent.seq = event.intent_number
    where event.position = any(${array(positions, "int8")}) order by event.sequence`.execute(db.root);
  return rows.map(showEvent);
}

/** An account's event that is in its feed; undefined for any other. */
export async function findEvent(db: Db, key: { accountId: string; eventId: string }): Promise<EventRecord | undefined> {
  const { rows } = await sql<ShownEventRow>`
    select ${sql.raw(shownColumns("event"))} from event left join intent on intent.seq = event.intent_number
    where event.id = ${eventIdBytes(key.eventId)} and event.sequence is not null
      and event.account_number = (select number from account where id = ${key.accountId})`.execute(db.root);
  return rows.map(showEvent)[0];
}
