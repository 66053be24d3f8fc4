import { sql } from "kysely";
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

/** Lists the deliveries of an endpoint with their tries, newest first. */
export async function listDeliveries(db: Db, query: DeliveryQuery): Promise<ListedDelivery[]> {
  const { endpointNumber, below, limit, status, eventId } = query;
  const conditions = [
    sql`delivery.endpoint_number = ${endpointNumber}`,
    ...(below === undefined ? [] : [sql`delivery.number < ${below}`]),
    ...(status === undefined ? [] : [sql`delivery.status = ${status}`]),
    ...(eventId === undefined ? [] : [ofEvent(eventId)]),
  ];
  const { rows } = await sql<Omit<ListedDelivery, "attempts">>`
    select delivery.*, event.id as event_id, event.type as event_type
    from webhook_delivery delivery left join event on event.position = delivery.event_position
    where ${sql.join(conditions, sql` and `)} order by delivery.number desc limit ${limit}`.execute(db.root);
  const attempts = await listAttempts(
    db,
    endpointNumber,
    rows.map(({ number }) => number),
  );
  return rows.map((row) => ({ ...row, attempts: attempts.filter((each) => each.delivery_number === row.number) }));
}

function ofEvent(eventId: string) {
  const bytes = idBytes("evt", eventId) ?? new Uint8Array();
  return sql`(delivery.event_position = (select position from event where id = ${bytes}) or delivery.test_event ->> 'id' = ${eventId})`;
}

async function listAttempts(db: Db, endpointNumber: number, deliveries: readonly bigint[]): Promise<WebhookAttempt[]> {
  return db.root
    .selectFrom("webhook_attempt")
    .selectAll()
    .where("endpoint_number", "=", endpointNumber)
    .where(sql<boolean>`delivery_number = any(${array(deliveries, "int8")})`)
    .orderBy("delivery_number")
    .orderBy("attempt")
    .execute();
}
