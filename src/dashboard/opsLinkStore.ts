import { sql } from "kysely";
import type { Db } from "../db/database.ts";

/** Stores a link and deletes those that are over: so few that each new one removes them. */
export async function insertOpsLink(
  db: Db,
  { codeHash, at, expiresAt }: { codeHash: Uint8Array; at: Date; expiresAt: Date },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.deleteFrom("ops_link").where("expires_at", "<=", at).execute();
    await tx
      .insertInto("ops_link")
      .values({ code_hash: codeHash, created_at: at, expires_at: expiresAt, used_at: null })
      .execute();
  });
}

/** Marks a link as used. False when it is unknown, used or over: of two tries at once, one gets true. */
export async function takeOpsLink(db: Db, codeHash: Uint8Array, at: Date): Promise<boolean> {
  const { rows } = await sql`
    update ops_link set used_at = ${at}
    where code_hash = ${codeHash} and used_at is null and expires_at > ${at} returning 1`.execute(db.root);
  return rows.length > 0;
}
