import { sql } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array, type ElementType } from "../db/parameters.ts";
import type { Entropy } from "../kernel/entropy.ts";
import { newId } from "../kernel/ids.ts";
import type { EventType, NewEvent } from "./event.ts";

/** Bounds the size of a statement: an event has about a kilobyte. */
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
  const texts = new Map<unknown, string>();
  const rows = batch.events.map((event) => eventRow(world.entropy, { event, at: batch.at, texts }));
  for (let start = 0; start < rows.length; start += ROWS_MAX)
    await insertEvents(tx, rows.slice(start, start + ROWS_MAX));
}

/** The resources travel as one JSON array: as elements of an array of texts, all their quotes would be escaped. */
async function insertEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  const column = (name: Exclude<keyof EventRow, "data">, type: ElementType) =>
    array(
      rows.map((row) => row[name]),
      type,
    );
  await sql`/* named: append_events */
    insert into event (${sql.raw(EVENT_COLUMNS.join())})
    select ${sql.raw(EVENT_COLUMNS.join())} from rows from (
      unnest(${column("id", "text")}, ${column("account_id", "text")}, ${column("intent_id", "text")}, ${column("type", "text")},
        ${column("livemode", "boolean")}, ${column("merchant_reference", "text")}, ${column("created_at", "timestamptz")}),
      json_array_elements(${`[${rows.map(({ data }) => data).join()}]`}::json)
    ) as appended (id, account_id, intent_id, type, livemode, merchant_reference, created_at, data)`.execute(tx);
}

const EVENT_COLUMNS = [
  "id",
  "account_id",
  "intent_id",
  "type",
  "livemode",
  "merchant_reference",
  "data",
  "created_at",
] as const;

/** The parameters of `eventInsertSql`, in the order of their numbers. */
export type EventParameters = readonly unknown[];

/**
 * SQL of the same insert, as part of a larger statement: writes the event once for each row of `sourceQuery`, a `with`
 * query of that statement that has at most one row. Parameters are numbered from `firstNumber`.
 */
export function eventInsertSql({ sourceQuery, firstNumber }: { sourceQuery: string; firstNumber: number }): string {
  const values = EVENT_COLUMNS.map((_, index) => `$${firstNumber + index}`);
  return `insert into event (${EVENT_COLUMNS.join()}) select ${values.join()} from ${sourceQuery}`;
}

export function eventParameters(world: { entropy: Entropy }, event: NewEvent, at: Date): EventParameters {
  const row = eventRow(world.entropy, { event, at, texts: new Map() });
  return EVENT_COLUMNS.map((column) => row[column]);
}

type EventRow = {
  id: string;
  account_id: string;
  intent_id: string | null;
  type: EventType;
  livemode: boolean;
  merchant_reference: string | null;
  /** JSON. */
  data: string;
  created_at: Date;
};

/** `texts`: the JSON of resources, because several events of one change have the same one. */
type EventRowInput = { event: NewEvent; at: Date; texts: Map<unknown, string> };

function eventRow(entropy: Entropy, { event, at, texts }: EventRowInput): EventRow {
  const object = texts.get(event.object) ?? JSON.stringify(event.object);
  texts.set(event.object, object);
  return {
    id: newId("evt", entropy),
    account_id: event.accountId,
    intent_id: event.intentId,
    type: event.type,
    livemode: event.livemode,
    merchant_reference: event.merchantReference,
    data: `{"object":${object},"previous":${JSON.stringify(event.previous)}}`,
    created_at: at,
  };
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
    .select(["position", "account_id", "sequence", "created_at"])
    .orderBy("position")
    .limit(limit)
    .execute();
  const kept = oldest.findIndex(({ sequence, created_at }) => sequence === null || created_at >= before);
  const expired = kept === -1 ? oldest : oldest.slice(0, kept);
  const last = expired.at(-1)?.position;
  if (last === undefined) return 0;
  const lowestKept = await findLowestSequences(tx, { accountIds: expired.map((row) => row.account_id), above: last });
  const deleted = expired.filter(({ account_id, sequence }) => {
    const lowest = lowestKept.get(account_id);
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
  { accountIds, above }: { accountIds: readonly string[]; above: bigint },
): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ accountId: string; sequence: bigint }>`
    select wanted.account_id as "accountId", lowest.sequence
    from unnest(${array([...new Set(accountIds)], "text")}) as wanted (account_id) cross join lateral (
      select event.sequence from event
      where event.account_id = wanted.account_id and event.sequence is not null and event.position > ${above}
      order by event.sequence limit 1) as lowest`.execute(tx);
  return new Map(rows.map(({ accountId, sequence }) => [accountId, sequence]));
}

function latestOf(one: Date | undefined, other: Date): Date {
  return one !== undefined && one > other ? one : other;
}

/** What logs and metrics need of an event. Fields that its resource lacks are null. */
export type SequencedEvent = {
  type: EventType;
  account: string;
  intent: string | null;
  createdAt: Date;
  deposit: string | null;
  settlement: string | null;
  /** CAIP-19. */
  asset: string | null;
  reason: string | null;
  /** When the resource was created, ISO 8601. */
  objectCreatedAt: string | null;
};

/** Whether events without a sequence are committed. */
export async function hasNewEvents(db: Db): Promise<boolean> {
  const { rows } = await sql<{ isFound: boolean }>`/* named: find_new_events */
    select exists (select from event where sequence is null) as "isFound"`.execute(db.root);
  return rows[0]?.isFound === true;
}

/**
 * Assigns up to `limit` committed events the next sequences of their accounts, in the order of their positions, and
 * returns these events. The caller ensures that only one transaction does this at a time.
 */
export async function assignSequences(tx: Tx, limit: number): Promise<SequencedEvent[]> {
  const { rows } = await sql<SequencedEvent>`
    with batch as (
      select position, account_id, row_number() over (partition by account_id order by position) as place
      from (select position, account_id from event where sequence is null order by position limit ${limit}) as unstamped
    ), batch_size as (
      select account_id, count(*) as size from batch group by account_id
    ), counter as (
      insert into event_counter (account_id, last_sequence)
      select account_id, size from batch_size
      on conflict (account_id) do update set last_sequence = event_counter.last_sequence + excluded.last_sequence
      returning account_id, last_sequence
    ), numbered as (
      update event set sequence = counter.last_sequence - batch_size.size + batch.place
      from batch join counter using (account_id) join batch_size using (account_id)
      where event.position = batch.position
      returning event.position, event.type, event.account_id, event.intent_id, event.created_at, event.data -> 'object' as object
    )
    select type, account_id as account, intent_id as intent, created_at as "createdAt",
      object ->> 'depositId' as deposit, object ->> 'settlementId' as settlement, object ->> 'caip19' as asset,
      object ->> 'reason' as reason, object ->> 'createdAt' as "objectCreatedAt"
    from numbered order by position`.execute(tx);
  return rows;
}
