import { sql, type Insertable, type UpdateObject } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import type { Schema } from "../../db/schema.ts";
import { unnest } from "../../db/parameters.ts";
import { addMs, DAY_MS } from "../../kernel/clock.ts";
import { idPattern } from "../../kernel/ids.ts";
import { latestSince, LEASE_MS } from "../delivery.ts";
import type { WebhookEndpointTable, WebhookQueue } from "../webhookTables.ts";
import type { WebhookEndpoint } from "./endpoint.ts";

export async function insertEndpoint(tx: Tx, row: Insertable<WebhookEndpointTable>): Promise<WebhookEndpoint> {
  return tx.insertInto("webhook_endpoint").values(row).returningAll().executeTakeFirstOrThrow();
}

/** The endpoints of an account in the order of their creation. */
export async function listEndpointRows(on: Db["root"] | Tx, accountId: string): Promise<WebhookEndpoint[]> {
  return on
    .selectFrom("webhook_endpoint")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("deleted_at", "is", null)
    .orderBy("number")
    .execute();
}

const ID = new RegExp(idPattern("we"));

/** An account's endpoint; undefined for another account's, for a deleted one, and for a text that is no id. */
export async function findEndpoint(
  on: Db["root"] | Tx,
  key: { accountId: string; endpointId: string },
): Promise<WebhookEndpoint | undefined> {
  if (!ID.test(key.endpointId)) return undefined;
  return on
    .selectFrom("webhook_endpoint")
    .selectAll()
    .where("id", "=", key.endpointId)
    .where("account_id", "=", key.accountId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
}

/** Locks an endpoint that exists. Whoever writes its deliveries holds this lock. */
export async function lockEndpoint(tx: Tx, number: number): Promise<WebhookEndpoint | undefined> {
  return tx
    .selectFrom("webhook_endpoint")
    .selectAll()
    .where("number", "=", number)
    .where("deleted_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateEndpoint(
  tx: Tx,
  number: number,
  change: UpdateObject<Schema, "webhook_endpoint">,
): Promise<WebhookEndpoint> {
  return tx
    .updateTable("webhook_endpoint")
    .set(change)
    .where("number", "=", number)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The last sequence of an account; 0 before its first event. */
export async function readLastSequence(on: Db["root"] | Tx, accountId: string): Promise<bigint> {
  const { rows } = await sql<{ last: bigint }>`
    select coalesce((select last_sequence from event_counter
      where account_number = (select number from account where id = ${accountId})), 0) as last`.execute(on);
  return rows[0]?.last ?? 0n;
}

/**
 * Marks the endpoints of accounts with new events, and returns the new position: of `limit` accounts, and of all others
 * that changed with the last of them, since those share its revision. It waits for endpoints that others have locked:
 * a fan-out that has read before these events may be about to take the mark away.
 */
export async function markBehind(
  tx: Tx,
  { afterRevision, limit }: { afterRevision: bigint; limit: number },
): Promise<bigint | undefined> {
  const { rows } = await sql<{ last: bigint | null }>`
    with changed as (
      select account_number, revision from event_counter where revision > ${afterRevision}
      order by revision fetch first ${limit} rows with ties
    ), locked as (
      select number, is_behind from webhook_endpoint
      where status = 'enabled' and deleted_at is null
        and account_id in (select account.id from changed join account on account.number = changed.account_number)
      order by number for no key update
    ), marked as (
      update webhook_endpoint set is_behind = true from locked
      where webhook_endpoint.number = locked.number and not locked.is_behind
    )
    select max(revision) as last from changed`.execute(tx);
  return rows[0]?.last ?? undefined;
}

/** Endpoints for which events may wait, those of the lowest numbers above `after` first. */
export async function listBehind(db: Db, { after, limit }: { after: number; limit: number }): Promise<number[]> {
  const rows = await db.root
    .selectFrom("webhook_endpoint")
    .select("number")
    .where("is_behind", "=", true)
    .where("number", ">", after)
    .orderBy("number")
    .limit(limit)
    .execute();
  return rows.map(({ number }) => number);
}

export type EndpointLease = { endpoint: WebhookEndpoint; token: bigint };

export type LeaseRequest = {
  at: Date;
  /** Of endpoints whose last try failed, or of the others. */
  isFailing: boolean;
  limit: number;
  /** The most endpoints of one account at a time. */
  accountMax: number;
};

/** Endpoints that wait and are looked at for one lease: more than other processes can have filled accounts with. */
const WAITING_MAX = 512;

/**
 * Leases endpoints whose turn has come, the ones that wait longest first, and of each account no more than its share.
 * Other processes skip them until the lease ends, and take over then.
 */
export async function leaseEndpoints(db: Db, request: LeaseRequest): Promise<EndpointLease[]> {
  const { at, isFailing, limit, accountMax } = request;
  const until = addMs(at, LEASE_MS);
  const isFree = sql`(leased_until is null or leased_until <= ${at} or leased_until > ${addMs(latestSince(at), LEASE_MS)})`;
  const queues: WebhookQueue[] = isFailing ? ["failing", "healing"] : ["healthy"];
  const waiting = queues.flatMap((queue) =>
    [sql`due_at <= ${at}`, sql`due_since > ${latestSince(at)}`].map(
      (condition) => sql`(select number, account_id, due_at from webhook_endpoint
        where queue = ${queue} and ${condition} and ${isFree} and deleted_at is null order by due_at limit ${WAITING_MAX})`,
    ),
  );
  const { rows } =
    await sql<WebhookEndpoint>`${sql.raw(`/* named: lease_${isFailing ? "failing" : "healthy"}_webhook_endpoints */`)}
    with waiting as (${sql.join(waiting, sql` union `)}), busy as (
      select account_id, count(*) as count from webhook_endpoint
      where account_id in (select account_id from waiting) and deleted_at is null and not ${isFree} group by account_id
    ), ranked as (
      select number, due_at, row_number() over (partition by account_id order by due_at, number)
        + coalesce((select count from busy where busy.account_id = waiting.account_id), 0) as place
      from waiting
    )
    update webhook_endpoint set lease_token = lease_token + 1, leased_until = ${until}, due_at = ${until}, due_since = ${at}
    where number in (
      select number from webhook_endpoint where number in (
        select number from ranked where place <= ${accountMax} order by due_at, number limit ${limit})
        and ${isFree} and deleted_at is null for update skip locked)
    returning *`.execute(db.root);
  return rows.map((endpoint) => ({ endpoint, token: endpoint.lease_token }));
}

/**
 * Prolongs leases. One that has ended meanwhile stays as it is, and an endpoint that was disabled gets no turn by it.
 */
export async function renewLeases(
  db: Db,
  { leases, at }: { leases: readonly EndpointLease[]; at: Date },
): Promise<void> {
  const until = addMs(at, LEASE_MS);
  const rows = unnest(
    "held",
    leases.map(({ endpoint: { number }, token }) => ({ number, token })),
    { number: "int4", token: "int8" },
  );
  await sql`/* named: renew_webhook_leases */
    update webhook_endpoint set leased_until = ${until},
      due_at = case when due_at is not null then ${until}::timestamptz end, due_since = case when due_at is not null then ${at}::timestamptz end
    from ${rows} where webhook_endpoint.number = held.number and lease_token = held.token and leased_until is not null
      and deleted_at is null`.execute(db.root);
}

/** Replays from which a deleted endpoint's row stays for their day, so that they count. */
const REPLAYS_KEPT_MIN = 1_000;

/** How many of an account's deleted endpoints still have their row. */
export async function countDeletedEndpoints(tx: Tx, accountId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from webhook_endpoint where deleted_at is not null and account_id = ${accountId}`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}

/**
 * Deletes the rows of deleted endpoints that have no delivery left and no replays of the last day, at most `limit`.
 */
export async function deleteEmptyEndpoints(tx: Tx, { at, limit }: { at: Date; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from webhook_endpoint where number in (
      select endpoint.number from webhook_endpoint endpoint where endpoint.deleted_at is not null
        and (endpoint.replays < ${REPLAYS_KEPT_MIN} or endpoint.replays_since <= ${addMs(at, -DAY_MS)})
        and not exists (select from webhook_delivery where webhook_delivery.endpoint_number = endpoint.number)
      order by endpoint.deleted_at limit ${limit})`.execute(tx);
  return Number(numAffectedRows);
}
