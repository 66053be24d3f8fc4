import { sql } from "kysely";
import type { Db } from "../db/database.ts";

/** A session with all that decides whether it still holds. */
export type FoundSession = {
  id: string;
  accountId: string;
  accountName: string;
  isSuspended: boolean;
  keyId: string;
  scopes: readonly string[];
  keyRevokedAt: Date | null;
  keyExpiresAt: Date | null;
  seenAt: Date;
  expiresAt: Date;
};

/** One read by the keys of three tables. */
export async function findSession(db: Db, id: string): Promise<FoundSession | undefined> {
  const { rows } = await sql<FoundSession>`
    select session.id, session.account_id as "accountId", account.name as "accountName",
      account.status = 'suspended' as "isSuspended", session.key_id as "keyId", key.scopes,
      key.revoked_at as "keyRevokedAt", key.expires_at as "keyExpiresAt", session.seen_at as "seenAt",
      session.expires_at as "expiresAt"
    from dashboard_session session join account on account.id = session.account_id
      join api_key key on key.key_id = session.key_id and key.account_id = session.account_id
    where session.id = ${id}`.execute(db.root);
  return rows[0];
}

export async function insertSession(
  db: Db,
  row: { id: string; accountId: string; keyId: string; at: Date; expiresAt: Date },
): Promise<void> {
  await db.root
    .insertInto("dashboard_session")
    .values({
      id: row.id,
      account_id: row.accountId,
      key_id: row.keyId,
      created_at: row.at,
      seen_at: row.at,
      expires_at: row.expiresAt,
    })
    .execute();
}

export async function markSeen(db: Db, id: string, at: Date): Promise<void> {
  await db.root.updateTable("dashboard_session").set({ seen_at: at }).where("id", "=", id).execute();
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await db.root.deleteFrom("dashboard_session").where("id", "=", id).execute();
}

/** Deletes sessions that are over, and returns their number. */
export async function deleteOverSessions(db: Db, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from dashboard_session where id in (
      select id from dashboard_session where expires_at <= ${before} order by expires_at limit ${limit})
    returning 1`.execute(db.root);
  return rows.length;
}
