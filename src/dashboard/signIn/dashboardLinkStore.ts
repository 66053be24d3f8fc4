import { sql } from "kysely";
import type { Db } from "../../db/database.ts";

type NewLink = { codeHash: Uint8Array; memberId: string; at: Date; expiresAt: Date };

/** Stores a link and deletes those that are over: so few that each new one removes them. */
export async function insertLink(db: Db, { codeHash, memberId, at, expiresAt }: NewLink): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.deleteFrom("dashboard_link").where("expires_at", "<=", at).execute();
    await tx
      .insertInto("dashboard_link")
      .values({ code_hash: codeHash, member_id: memberId, created_at: at, expires_at: expiresAt, used_at: null })
      .execute();
  });
}

/** Uses a link up. Undefined when it is unknown, used or over: of two tries at once, one gets the member. */
export async function takeLink(
  db: Db,
  codeHash: Uint8Array,
  at: Date,
): Promise<{ memberId: string; accountId: string } | undefined> {
  const { rows } = await sql<{ memberId: string; accountId: string }>`
    update dashboard_link set used_at = ${at} from member
    where dashboard_link.code_hash = ${codeHash} and dashboard_link.used_at is null and dashboard_link.expires_at > ${at}
      and member.id = dashboard_link.member_id and member.removed_at is null
    returning member.id as "memberId", member.account_id as "accountId"`.execute(db.root);
  return rows[0];
}
