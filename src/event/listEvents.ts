import type { Selectable } from "kysely";
import type { Db } from "../db/database.ts";
import type { EventTable } from "../db/schema.ts";
import { assert } from "../kernel/assert.ts";

/** An event in the API's form. `previous` holds the changed fields' earlier values, null for a new resource. */
export type EventRecord = {
  id: string;
  object: "event";
  type: string;
  /** From 1, without gaps, per account. */
  sequence: number;
  livemode: boolean;
  apiVersion: string;
  createdAt: string;
  intentId: string | null;
  merchantReference: string | null;
  data: { object: unknown; previous: unknown };
};

/** The API version of the event format. */
const EVENT_API_VERSION = "2026-11-01";

export type EventQuery = { accountId: string; afterSequence: bigint; limit: number; intentId?: string };

/** Lists an account's events after a sequence, in order and without gaps. */
export async function listEvents(db: Db, query: EventQuery): Promise<EventRecord[]> {
  const rows = await db.root
    .selectFrom("event")
    .selectAll()
    .where("account_id", "=", query.accountId)
    .where("sequence", ">", query.afterSequence)
    .$if(query.intentId !== undefined, (select) => select.where("intent_id", "=", query.intentId ?? ""))
    .orderBy("sequence")
    .limit(query.limit)
    .execute();
  return rows.map(eventRecord);
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
  const order = accountId === undefined ? "position" : "sequence";
  const rows = await db.root
    .selectFrom("event")
    .selectAll()
    .where("sequence", "is not", null)
    .$if(accountId !== undefined, (select) => select.where("account_id", "=", accountId ?? ""))
    .$if(intentId !== undefined, (select) => select.where("intent_id", "=", intentId ?? ""))
    .$if(beforeId !== undefined, (select) =>
      select.where(order, "<", (event) =>
        event
          .selectFrom("event as last")
          .select(`last.${order}`)
          .where("last.id", "=", beforeId ?? ""),
      ),
    )
    .orderBy(order, "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ accountId: row.account_id, ...eventRecord(row) }));
}

/** The account of an event; undefined for an unknown id. */
export async function findAccountOfEvent(db: Db, eventId: string): Promise<string | undefined> {
  const row = await db.root.selectFrom("event").select("account_id").where("id", "=", eventId).executeTakeFirst();
  return row?.account_id;
}

function eventRecord(row: Selectable<EventTable>): EventRecord {
  assert(row.sequence !== null, `event ${row.id} has no sequence yet`);
  return {
    id: row.id,
    object: "event",
    type: row.type,
    sequence: Number(row.sequence),
    livemode: row.livemode,
    apiVersion: EVENT_API_VERSION,
    createdAt: row.created_at.toISOString(),
    intentId: row.intent_id,
    merchantReference: row.merchant_reference,
    data: row.data as EventRecord["data"],
  };
}
