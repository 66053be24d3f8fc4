import { sql } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { json } from "../db/parameters.ts";
import { advisoryLockKey, type IdempotentRequest } from "./idempotentRequest.ts";

/** What an operation answered with; that it was the operation which now reads it is the caller's promise. */
export type StoredResponse<Status extends number, Body extends object> = {
  requestHash: Uint8Array;
  status: Status;
  body: Body;
};

/** Holds the call until the transaction ends; false when it runs already. */
export async function tryLockRequest(tx: Tx, call: IdempotentRequest): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`
    select pg_try_advisory_xact_lock(${advisoryLockKey(call)}::bigint) as "isLocked"`.execute(tx);
  return rows[0]?.isLocked === true;
}

/** What the call was answered with, unless that is too long ago. */
export async function findStoredResponse<Status extends number, Body extends object>(
  tx: Tx,
  call: IdempotentRequest,
  now: Date,
): Promise<StoredResponse<Status, Body> | undefined> {
  const row = await tx
    .selectFrom("idempotent_answer")
    .select(["body_hash", "status", "body"])
    .where("account_id", "=", call.accountId)
    .where("operation", "=", call.operation)
    .where("key", "=", call.key)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && { requestHash: row.body_hash, status: row.status as Status, body: row.body as Body };
}

/** Keeps an answer, in place of one of the same key that is too old. */
export async function storeResponse(
  tx: Tx,
  call: IdempotentRequest,
  answer: { status: number; body: object; expiresAt: Date },
): Promise<void> {
  const columns = {
    body_hash: call.requestHash,
    status: answer.status,
    body: json(answer.body),
    expires_at: answer.expiresAt,
  };
  await tx
    .insertInto("idempotent_answer")
    .values({ account_id: call.accountId, operation: call.operation, key: call.key, ...columns })
    .onConflict((conflict) => conflict.columns(["account_id", "operation", "key"]).doUpdateSet(columns))
    .execute();
}

/** Removes up to `limit` answers that are too old, and returns how many there were. A key that is used again just now keeps its new one. */
export async function deleteExpiredResponses(db: Db, { now, limit }: { now: Date; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from idempotent_answer where (account_id, operation, key) in (
      select account_id, operation, key from idempotent_answer where expires_at <= ${now}
      order by expires_at limit ${limit} for update skip locked
    ) returning 1`.execute(db.root);
  return rows.length;
}
