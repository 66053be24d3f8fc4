import { sql } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { json } from "../db/parameters.ts";
import { advisoryLockKey, type IdempotentRequest } from "./idempotentRequest.ts";

/** A stored response. The caller ensures that the types are those of the operation. */
export type StoredResponse<Status extends number, Body extends object> = {
  requestHash: Uint8Array;
  status: Status;
  body: Body;
};

/** Locks the request until the transaction ends; returns false when another transaction holds the lock. */
export async function tryLockRequest(tx: Tx, request: IdempotentRequest): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`
    select pg_try_advisory_xact_lock(${advisoryLockKey(request)}::bigint) as "isLocked"`.execute(tx);
  return rows[0]?.isLocked === true;
}

/** The stored response of the request, unless it has expired. */
export async function findStoredResponse<Status extends number, Body extends object>(
  tx: Tx,
  request: IdempotentRequest,
  now: Date,
): Promise<StoredResponse<Status, Body> | undefined> {
  const row = await tx
    .selectFrom("idempotent_answer")
    .select(["body_hash", "status", "body"])
    .where("account_id", "=", request.accountId)
    .where("operation", "=", request.operation)
    .where("key", "=", request.key)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && { requestHash: row.body_hash, status: row.status as Status, body: row.body as Body };
}

/** Stores a response, and replaces an expired one of the same key. */
export async function storeResponse(
  tx: Tx,
  request: IdempotentRequest,
  response: { status: number; body: object; expiresAt: Date },
): Promise<void> {
  const columns = {
    body_hash: request.requestHash,
    status: response.status,
    body: json(response.body),
    expires_at: response.expiresAt,
  };
  await tx
    .insertInto("idempotent_answer")
    .values({ account_id: request.accountId, operation: request.operation, key: request.key, ...columns })
    .onConflict((conflict) => conflict.columns(["account_id", "operation", "key"]).doUpdateSet(columns))
    .execute();
}

/**
 * Removes up to `limit` expired responses and returns their number. A key in use at the same moment keeps its new
 * response.
 */
export async function deleteExpiredResponses(db: Db, { now, limit }: { now: Date; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from idempotent_answer where ctid = any(array(
      select ctid from idempotent_answer where expires_at <= ${now} order by expires_at limit ${limit} for update skip locked
    )) returning 1`.execute(db.root);
  return rows.length;
}
