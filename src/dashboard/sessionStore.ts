import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import type { Namespace } from "../kernel/caip.ts";
import type { MemberRole } from "./dashboardTables.ts";

/** A session with all that decides whether it still holds. It is of a key or of a member. */
export type FoundSession = {
  id: string;
  accountId: string;
  accountName: string;
  isSuspended: boolean;
  keyId: string | null;
  scopes: readonly string[] | null;
  keyRevokedAt: Date | null;
  keyExpiresAt: Date | null;
  memberId: string | null;
  memberRole: MemberRole | null;
  memberNamespace: Namespace | null;
  memberWallet: string | null;
  memberRemovedAt: Date | null;
  seenAt: Date;
  expiresAt: Date;
};

/** One read by the keys of four tables. */
export async function findSession(db: Db, id: string): Promise<FoundSession | undefined> {
  const { rows } = await sql<FoundSession>`
    select session.id, session.account_id as "accountId", account.name as "accountName",
      account.status = 'suspended' as "isSuspended", session.key_id as "keyId", key.scopes,
      key.revoked_at as "keyRevokedAt", key.expires_at as "keyExpiresAt", session.member_id as "memberId",
      member.role as "memberRole", member.namespace as "memberNamespace", member.wallet as "memberWallet",
      member.removed_at as "memberRemovedAt", session.seen_at as "seenAt", session.expires_at as "expiresAt"
    from dashboard_session session join account on account.id = session.account_id
      left join api_key key on key.key_id = session.key_id and key.account_id = session.account_id
      left join member on member.id = session.member_id and member.account_id = session.account_id
    where session.id = ${id}`.execute(db.root);
  return rows[0];
}

/** `keyId` or `memberId`. */
export type NewSession = {
  id: string;
  accountId: string;
  keyId?: string;
  memberId?: string;
  at: Date;
  expiresAt: Date;
};

export async function insertSession(db: Db, row: NewSession): Promise<void> {
  await db.root
    .insertInto("dashboard_session")
    .values({
      id: row.id,
      account_id: row.accountId,
      key_id: row.keyId ?? null,
      member_id: row.memberId ?? null,
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
