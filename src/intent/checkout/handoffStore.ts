import { sql, type Insertable } from "kysely";
import type { Db } from "../../db/database.ts";
import type { CheckoutHandoffTable } from "../intentTables.ts";

export async function insertHandoff(db: Db, row: Insertable<CheckoutHandoffTable>): Promise<void> {
  await db.root.insertInto("checkout_handoff").values(row).execute();
}

/** Deletes a valid code, so that only one of two concurrent uses succeeds. Returns whether this one did. */
export async function takeHandoff(
  db: Db,
  { codeHash, intentId, now }: { codeHash: Uint8Array; intentId: string; now: Date },
): Promise<boolean> {
  const { numDeletedRows } = await db.root
    .deleteFrom("checkout_handoff")
    .where("code_hash", "=", codeHash)
    .where("intent_id", "=", intentId)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes up to `limit` codes that expired before a time, and returns their number. */
export async function deleteExpiredHandoffs(
  db: Db,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rows } = await sql`
    delete from checkout_handoff where ctid = any(array(
      select ctid from checkout_handoff where expires_at < ${before} order by expires_at limit ${limit} for update skip locked
    )) returning 1`.execute(db.root);
  return rows.length;
}
