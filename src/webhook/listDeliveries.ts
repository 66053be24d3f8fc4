import { sql, type RawBuilder } from "kysely";
import type { Db } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { WebhookDeliveryStatus } from "./webhookTables.ts";
import { eventTypeName } from "../event/event.ts";
import { idBytes, idOf } from "../kernel/ids.ts";
import type { WebhookAttempt, WebhookDelivery } from "./delivery.ts";

type ListedDelivery = WebhookDelivery & {
  event_id: Uint8Array | null;
  event_type: number | null;
  attempts: readonly WebhookAttempt[];
};

/** A delivery as the API shows it. */
export type WebhookDeliveryRecord = {
  object: "webhook_delivery";
  eventId: string | null;
  type: string | null;
  sequence: number;
  status: WebhookDeliveryStatus;
  isReplay: boolean;
  nextTryAt: string | null;
  createdAt: string;
  closedAt: string | null;
  attempts: AttemptRecord[];
};

type AttemptRecord = {
  attempt: number;
  at: string;
  url: string;
  statusCode: number | null;
  error: string | null;
  connectedMs: number | null;
  firstByteMs: number | null;
  totalMs: number;
  answer: string | null;
};

export function webhookDeliveryRecord(row: ListedDelivery): WebhookDeliveryRecord {
  const test = row.test_event as { id: string; type: string } | null;
  return {
    object: "webhook_delivery",
    eventId: test?.id ?? (row.event_id === null ? null : idOf("evt", row.event_id)),
    type: test?.type ?? (row.event_type === null ? null : (eventTypeName(row.event_type) ?? null)),
    sequence: Number(row.sequence),
    status: row.status,
    isReplay: row.is_replay,
    nextTryAt: row.due_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    closedAt: row.closed_at?.toISOString() ?? null,
    attempts: row.attempts.map(attemptRecord),
  };
}

function attemptRecord(row: WebhookAttempt): AttemptRecord {
  return {
    attempt: row.attempt,
    at: row.at.toISOString(),
    url: row.url,
    statusCode: row.status_code,
    error: row.error,
    connectedMs: row.connected_ms,
    firstByteMs: row.first_byte_ms,
    totalMs: row.total_ms,
    // What a receiver sends may be any bytes.
    answer: row.answer === null ? null : Buffer.from(row.answer).toString("utf8").replaceAll("\0", "�").toWellFormed(),
  };
}

type DeliveryQuery = {
  endpointNumber: number;
  below: bigint | undefined;
  limit: number;
  status: WebhookDeliveryStatus | undefined;
  eventId: string | undefined;
};

/** Deliveries that a page reads at most to find those of a status. Failed ones have an index of their own. */
const READ_MAX = 10_000;

/** A page, and where the next one goes on although this one is not full. */
export type DeliveryPage = { rows: ListedDelivery[]; readTo: bigint | undefined };

/**
 * Lists the deliveries of an endpoint with their tries, newest first. What is read carries its status, so that no plan
 * compares each of the read rows with all of them.
 */
export async function listDeliveries(db: Db, query: DeliveryQuery): Promise<DeliveryPage> {
  const { endpointNumber, below, limit, status } = query;
  const upTo = below === undefined ? sql`true` : sql`number < ${below}`;
  const isScan = query.eventId === undefined && (status === "pending" || status === "succeeded");
  const { rows: all } = await sql<Omit<ListedDelivery, "attempts"> & { readTo: bigint | null }>`
    with read as (${isScan ? selectLatest(query, upTo) : selectNumbers(query, upTo)}), page as (
      select distinct number from read where ${status === undefined ? sql`true` : sql`status = ${status}`}
      order by number desc limit ${limit}
    )
    select delivery.*, event.id as event_id, event.type as event_type, counted.read_to as "readTo"
    from (select case when count(*) >= ${READ_MAX} then min(number) end as read_to from read) counted
      left join webhook_delivery delivery on delivery.endpoint_number = ${endpointNumber} and delivery.number = any(array(select number from page))
      left join event on event.position = delivery.event_position
    order by delivery.number desc`.execute(db.root);
  const readTo = all[0]?.readTo ?? undefined;
  const rows = all.filter(({ number }) => number !== null);
  const attempts = await listAttempts(
    db,
    endpointNumber,
    rows.map(({ number }) => number),
  );
  const page = rows.map((row) => ({
    ...row,
    attempts: attempts.filter((each) => each.delivery_number === row.number),
  }));
  return { rows: page, readTo: isScan ? readTo : undefined };
}

function selectLatest({ endpointNumber }: DeliveryQuery, upTo: RawBuilder<unknown>) {
  return sql`select number, status from webhook_delivery where endpoint_number = ${endpointNumber} and ${upTo}
    order by number desc limit ${READ_MAX}`;
}

/** Of one event, or of the failed ones, by an index; else the newest. */
function selectNumbers(query: DeliveryQuery, upTo: RawBuilder<unknown>) {
  const { endpointNumber, limit, status, eventId } = query;
  const isWanted = status === undefined ? sql`true` : sql`status = ${status}`;
  const select = (condition: RawBuilder<unknown>) =>
    sql`(select number, status from webhook_delivery where endpoint_number = ${endpointNumber} and ${upTo} and ${isWanted} and ${condition}
      order by number desc limit ${limit})`;
  if (eventId === undefined) return select(status === "failed" ? sql`status = 'failed'` : sql`true`);
  const bytes = idBytes("evt", eventId) ?? new Uint8Array();
  const position = sql`event_position = (select position from event where id = ${bytes})`;
  const ways = [
    sql`${position} and not is_replay`,
    sql`${position} and is_replay`,
    sql`test_event is not null and test_event ->> 'id' = ${eventId}`,
  ];
  return sql.join(ways.map(select), sql` union all `);
}

async function listAttempts(db: Db, endpointNumber: number, deliveries: readonly bigint[]): Promise<WebhookAttempt[]> {
  const { rows } = await sql<WebhookAttempt>`
    select attempt.* from unnest(${array(deliveries, "int8")}) as listed (number) cross join lateral (
      select * from webhook_attempt where endpoint_number = ${endpointNumber} and delivery_number = listed.number offset 0
    ) as attempt
    order by attempt.delivery_number, attempt.attempt`.execute(db.root);
  return rows;
}
