import { sql, type RawBuilder } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array, unnest, type ElementType } from "../db/parameters.ts";
import type { Entropy } from "../kernel/entropy.ts";
import { ID_BYTES } from "../kernel/ids.ts";
import { EVENT_TYPES, eventTypesBelow, type NewEvent } from "./event.ts";
import { currentFormat, getFormat } from "./format/formats.ts";
import { shownColumns, type ShownEventRow } from "./showEvent.ts";

/** Bounds the size of a statement: an event has a few hundred bytes. */
const ROWS_MAX = 1_000;

/**
 * Appends events in the transaction of their change, so that each change has its event and each event its change.
 * Events of one intent keep the order of the calls. The public sequence is assigned after commit.
 */
export async function appendEvents(
  tx: Tx,
  world: { entropy: Entropy },
  batch: { events: readonly NewEvent[]; at: Date },
): Promise<void> {
  const rows = batch.events.map((event) => eventRow(world.entropy, event, batch.at));
  for (let start = 0; start < rows.length; start += ROWS_MAX)
    await insertEvents(tx, rows.slice(start, start + ROWS_MAX));
}

/** The contents travel as one JSON array: as elements of an array of texts, all their quotes would be escaped. */
async function insertEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  const column = (name: Exclude<keyof EventRow, "content">, type: ElementType) =>
    array(
      rows.map((row) => row[name]),
      type,
    );
  await sql`/* named: append_events */
    insert into event (id, account_number, intent_number, type, format, livemode, created_at, content)
    select id, ${sql.raw(ACCOUNT_NUMBER)}, intent_number, type, format, livemode, created_at, content
    from rows from (
      unnest(${column("id", "bytea")}, ${column("account_id", "text")}, ${column("intent_number", "int8")}, ${column("type", "int4")},
        ${column("format", "int4")}, ${column("livemode", "boolean")}, ${column("created_at", "timestamptz")}),
      json_array_elements(${`[${rows.map(({ content }) => content).join()}]`}::json)
    ) as appended (id, account_id, intent_number, type, format, livemode, created_at, content)`.execute(tx);
}

/** A subquery uses the index of accounts for each row, whatever the planner knows about their number. */
const ACCOUNT_NUMBER = "(select number from account where account.id = appended.account_id)";

/** The parameters of `eventInsertSql`, in the order of their numbers. */
export type EventParameters = readonly unknown[];

const PARAMETERS = ["id", "account_id", "type", "format", "livemode", "created_at", "content"] as const;

/**
 * SQL of the same insert, as part of a larger statement: writes the event of an intent once for each row of
 * `sourceQuery`, a `with` query of that statement that has at most one row, with the intent's `seq`. Parameters are
 * numbered from `firstNumber`.
 */
export function eventInsertSql({ sourceQuery, firstNumber }: { sourceQuery: string; firstNumber: number }): string {
  const parameter = (name: (typeof PARAMETERS)[number]) => `$${firstNumber + PARAMETERS.indexOf(name)}`;
  return `insert into event (id, account_number, intent_number, type, format, livemode, created_at, content)
    select ${parameter("id")}, (select number from account where account.id = ${parameter("account_id")}), ${sourceQuery}.seq,
      ${parameter("type")}, ${parameter("format")}, ${parameter("livemode")}, ${parameter("created_at")}, ${parameter("content")}
    from ${sourceQuery}`;
}

export function eventParameters(
  world: { entropy: Entropy },
  event: Omit<NewEvent, "intentNumber">,
  at: Date,
): EventParameters {
  const row = eventRow(world.entropy, { ...event, intentNumber: null }, at);
  return PARAMETERS.map((name) => row[name]);
}

type EventRow = {
  id: Uint8Array;
  account_id: string;
  intent_number: bigint | null;
  type: number;
  format: number;
  livemode: boolean;
  /** JSON. */
  content: string;
  created_at: Date;
};

function eventRow(entropy: Entropy, event: NewEvent, at: Date): EventRow {
  const format = currentFormat(event.object);
  return {
    id: entropy.bytes(ID_BYTES),
    account_id: event.accountId,
    intent_number: event.intentNumber,
    type: EVENT_TYPES[event.type],
    format,
    livemode: event.livemode,
    content: JSON.stringify(getFormat(format).store(event.object, event.previous, at.getTime())),
    created_at: at,
  };
}

/**
 * SQL: the types below a prefix as a table `type_of` with number and name. Of a deposit's or settlement's event, the
 * first value is its id.
 */
export function eventTypesOf(prefix: string): RawBuilder<unknown> {
  const rows = eventTypesBelow(prefix).map((name) => sql`(${sql.lit(EVENT_TYPES[name])}, ${sql.lit(name)})`);
  return sql`(values ${sql.join(rows)}) as type_of (number, name)`;
}

/** SQL: events up to this time may be deleted. Checks expect events only of what is later. */
export const eventsExpiredBefore = sql<Date>`coalesce((select expired_before from event_expiry), '-infinity')`;

/**
 * Deletes the events from before a time among the `limit` oldest, and returns their number. Of each account the events
 * with the lowest sequences go first, so that a reader meets no gap: sequences may differ from the order of positions
 * by events of concurrent commits.
 */
export async function deleteOldestEvents(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const oldest = await tx
    .selectFrom("event")
    .select(["position", "account_number", "sequence", "created_at"])
    .orderBy("position")
    .limit(limit)
    .execute();
  const kept = oldest.findIndex(({ sequence, created_at }) => sequence === null || created_at >= before);
  const expired = kept === -1 ? oldest : oldest.slice(0, kept);
  const last = expired.at(-1)?.position;
  if (last === undefined) return 0;
  const lowestKept = await findLowestSequences(tx, {
    accountNumbers: expired.map((row) => row.account_number),
    above: last,
  });
  const deleted = expired.filter(({ account_number: account, sequence }) => {
    const lowest = lowestKept.get(account);
    return lowest === undefined || (sequence !== null && sequence < lowest);
  });
  const latest = deleted.map((row) => row.created_at).reduce<Date | undefined>(latestOf, undefined);
  if (latest === undefined) return 0;
  const positions = deleted.map(({ position }) => position);
  await sql`delete from event where position = any(${array(positions, "int8")})`.execute(tx);
  await sql`
    insert into event_expiry (expired_before) values (${latest})
    on conflict (only_row) do update set expired_before = greatest(event_expiry.expired_before, excluded.expired_before)`.execute(
    tx,
  );
  return deleted.length;
}

/** The lowest sequence of each account among the events above a position. */
async function findLowestSequences(
  tx: Tx,
  { accountNumbers, above }: { accountNumbers: readonly number[]; above: bigint },
): Promise<Map<number, bigint>> {
  const { rows } = await sql<{ account: number; sequence: bigint }>`
    select wanted.account, lowest.sequence
    from unnest(${array([...new Set(accountNumbers)], "int4")}) as wanted (account) cross join lateral (
      select event.sequence from event
      where event.account_number = wanted.account and event.sequence is not null and event.position > ${above}
      order by event.sequence limit 1) as lowest`.execute(tx);
  return new Map(rows.map(({ account, sequence }) => [account, sequence]));
}

function latestOf(one: Date | undefined, other: Date): Date {
  return one !== undefined && one > other ? one : other;
}

/** What logs and metrics need of an event that got its sequence. */
export type SequencedEvent = ShownEventRow & { accountId: string };

/** Whether events without a sequence are committed, or accounts wait for their event of a new epoch. */
export async function hasNewEvents(db: Db): Promise<boolean> {
  const { rows } = await sql<{ isFound: boolean }>`/* named: find_new_events */
    select exists (select from event where sequence is null)
      or exists (select from database_epoch where feeds_restored_to is not null) as "isFound"`.execute(db.root);
  return rows[0]?.isFound === true;
}

/**
 * Assigns up to `limit` committed events the next sequences of their accounts, in the order of their positions, and
 * returns these events. The caller ensures that only one transaction does this at a time.
 */
export async function assignSequences(tx: Tx, limit: number): Promise<SequencedEvent[]> {
  const unstamped = await sql<{ position: bigint }>`/* named: list_new_events */
    select position from event where sequence is null order by position limit ${limit}`.execute(tx);
  // The planner is told how many they are, so it reads each by its key.
  const positions = array(
    unstamped.rows.map(({ position }) => position),
    "int8",
  );
  const { rows } = await sql<SequencedEvent>`
    with batch as (
      select position, account_number, row_number() over (partition by account_number order by position) as place,
        count(*) over (partition by account_number) as size
      from event where position = any(${positions})
    ), counter as (
      insert into event_counter (account_number, last_sequence, revision)
      select account_number, count(*), (select coalesce(max(revision), 0) + 1 from event_counter) from batch group by account_number
      on conflict (account_number) do update set
        last_sequence = event_counter.last_sequence + excluded.last_sequence, revision = excluded.revision
      returning account_number, last_sequence
    ), numbered as (
      update event set sequence = counter.last_sequence - batch.size + batch.place
      from batch join counter using (account_number)
      where event.position = batch.position and event.position = any(${positions})
      returning event.*
    )
    select ${sql.raw(shownColumns("numbered"))}, account.id as "accountId"
    from numbered
      cross join lateral (select id from account where account.number = numbered.account_number offset 0) as account
      left join lateral (select * from intent where intent.seq = numbered.intent_number offset 0) as intent on true
    order by numbered.position`.execute(tx);
  return rows;
}

/** How far a sequence skips where the database lost commits, and nowhere else. */
export const RESTORED_SKIP = 1_000_000n;

export type FeedRestoration = { after: number; limit: number; at: Date; livemode: boolean };

/**
 * Continues the feeds of up to `limit` accounts above a number behind every sequence that a reader may have seen, each
 * with an event that says so. Returns the number of the last account; undefined where none is left.
 */
export async function restoreSequences(
  tx: Tx,
  world: { entropy: Entropy },
  { after, limit, at, livemode }: FeedRestoration,
): Promise<number | undefined> {
  const accounts = await tx
    .selectFrom("account")
    .select(["number", "id"])
    .where("number", ">", after)
    .orderBy("number")
    .limit(limit)
    .execute();
  const last = accounts.at(-1)?.number;
  if (last === undefined) return undefined;
  const rows = unnest(
    "restored",
    accounts.map((account) => ({ ...account, event_id: world.entropy.bytes(ID_BYTES) })),
    { number: "int4", id: "text", event_id: "bytea" },
  );
  await sql`
    with restored as materialized (select * from ${rows}), counter as (
      insert into event_counter (account_number, last_sequence, revision)
      select number, ${RESTORED_SKIP}, (select coalesce(max(revision), 0) + 1 from event_counter) from restored
      on conflict (account_number) do update set
        last_sequence = event_counter.last_sequence + excluded.last_sequence, revision = excluded.revision
      returning account_number, last_sequence
    )
    insert into event (id, account_number, intent_number, sequence, type, format, livemode, created_at, content)
    select restored.event_id, restored.number, null, counter.last_sequence, ${EVENT_TYPES["account.feed_restored"]}, 0, ${livemode}, ${at},
      json_build_array(json_build_object('object', 'feed_restoration', 'accountId', restored.id,
        'lastSequence', counter.last_sequence - ${RESTORED_SKIP}, 'nextSequence', counter.last_sequence), null)
    from restored join counter on counter.account_number = restored.number
    order by restored.number`.execute(tx);
  return last;
}
