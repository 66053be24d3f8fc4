import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import type { Caip2, Namespace } from "../kernel/caip.ts";
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
  memberChain: Caip2 | null;
  memberRemovedAt: Date | null;
  seenAt: Date;
  expiresAt: Date;
};

/** One read by the keys of the tables, whichever kind the session is of. */
export async function findSession(db: Db, id: string): Promise<FoundSession | undefined> {
  const { rows } = await sql<FoundSession>`
    select session.id, session.account_id as "accountId", account.name as "accountName",
      account.status = 'suspended' as "isSuspended", session.key_id as "keyId", key.scopes,
      key.revoked_at as "keyRevokedAt", key.expires_at as "keyExpiresAt", null as "memberId", null as "memberRole",
      null as "memberNamespace", null as "memberWallet", null as "memberChain", null::timestamptz as "memberRemovedAt",
      session.seen_at as "seenAt", session.expires_at as "expiresAt"
    from dashboard_session session join account on account.id = session.account_id
      join api_key key on key.key_id = session.key_id and key.account_id = session.account_id
    where session.id = ${id}
    union all
    select session.id, session.account_id, account.name, account.status = 'suspended', null, null, null, null,
      member.id, member.role, member.namespace, member.wallet, member.chain, member.removed_at, session.seen_at, session.expires_at
    from member_session session join account on account.id = session.account_id
      join member on member.id = session.member_id and member.account_id = session.account_id
    where session.id = ${id}`.execute(db.root);
  return rows[0];
}

export type NewSession = { id: string; accountId: string; at: Date; expiresAt: Date };

export async function insertKeySession(db: Db, row: NewSession & { keyId: string }): Promise<void> {
  const values = { ...columnsOf(row), key_id: row.keyId };
  await db.root.insertInto("dashboard_session").values(values).execute();
}

export async function insertMemberSession(db: Db, row: NewSession & { memberId: string }): Promise<void> {
  const values = { ...columnsOf(row), member_id: row.memberId };
  await db.root.insertInto("member_session").values(values).execute();
}

function columnsOf({ id, accountId, at, expiresAt }: NewSession) {
  return { id, account_id: accountId, created_at: at, seen_at: at, expires_at: expiresAt };
}

const TABLES = { key: "dashboard_session", member: "member_session" } as const;
type OfSession = { kind: keyof typeof TABLES; id: string };

export async function markSeen(db: Db, { kind, id }: OfSession, at: Date): Promise<void> {
  await db.root.updateTable(TABLES[kind]).set({ seen_at: at }).where("id", "=", id).execute();
}

export async function deleteSession(db: Db, { kind, id }: OfSession): Promise<void> {
  await db.root.deleteFrom(TABLES[kind]).where("id", "=", id).execute();
}

/** Deletes sessions of one kind that are over, and returns their number. */
export async function deleteOverSessions(
  db: Db,
  { kind, before, limit }: { kind: OfSession["kind"]; before: Date; limit: number },
): Promise<number> {
  const table = sql.ref(TABLES[kind]);
  const { rows } = await sql`
    delete from ${table} where id in (
      select id from ${table} where expires_at <= ${before} order by expires_at limit ${limit})
    returning 1`.execute(db.root);
  return rows.length;
}
