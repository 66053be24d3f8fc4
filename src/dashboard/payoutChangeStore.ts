import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { json } from "../db/parameters.ts";
import type { PayoutChangeTable } from "./dashboardTables.ts";

export type PayoutChangeRow = Selectable<PayoutChangeTable>;

export async function insertChange(
  tx: Tx,
  row: Pick<PayoutChangeRow, "id" | "account_id" | "status" | "proposed_by" | "proposed_at" | "due_at"> & {
    change: object;
  },
): Promise<PayoutChangeRow> {
  return tx
    .insertInto("payout_change")
    .values({ ...row, change: json(row.change) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The change of an account that has neither taken effect nor been stopped. The caller holds the account's lock. */
export async function findOpenChange(on: Db["root"] | Tx, accountId: string): Promise<PayoutChangeRow | undefined> {
  return on
    .selectFrom("payout_change")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("status", "in", ["proposed", "waiting"])
    .executeTakeFirst();
}

export async function listChangeRows(db: Db, accountId: string, limit: number): Promise<PayoutChangeRow[]> {
  return db.root
    .selectFrom("payout_change")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("proposed_at", "desc")
    .limit(limit)
    .execute();
}

export async function updateChange(
  tx: Tx,
  id: string,
  change: Partial<Pick<PayoutChangeRow, "status" | "signed_by" | "due_at" | "ended_by" | "ended_at">>,
): Promise<PayoutChangeRow> {
  return tx.updateTable("payout_change").set(change).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

/** Accounts with a change whose time has come, the earliest first. */
export async function listDueAccounts(db: Db, { now, limit }: { now: Date; limit: number }): Promise<string[]> {
  const { rows } = await sql<{ accountId: string }>`
    select account_id as "accountId" from payout_change
    where status = 'waiting' and due_at <= ${now} order by due_at limit ${limit}`.execute(db.root);
  return rows.map(({ accountId }) => accountId);
}
