import { sql } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import type { AccountNoticeTable, AccountNotificationTable } from "../webhookTables.ts";
import type { Insertable, Selectable } from "kysely";
import { isDue } from "../../db/due.ts";
import type { Entropy } from "../../kernel/entropy.ts";
import { newId } from "../../kernel/ids.ts";
import type { WebhookEndpoint } from "../endpoint/endpoint.ts";

type NewNotice = { endpoint: WebhookEndpoint; type: string; at: Date };

/** Adds a notice for accounts that have named a URL for notices. */
export async function addNotice(tx: Tx, world: { entropy: Entropy }, { endpoint, type, at }: NewNotice): Promise<void> {
  const isDisabled = type === "webhook_endpoint.disabled";
  const message = `The webhook endpoint ${endpoint.url} ${isDisabled ? "was disabled" : "has failed for days"}.`;
  await sql`
    insert into account_notice (id, account_id, type, webhook_endpoint_id, message, at, tries, due_at)
    select ${newId("evt", world.entropy)}, account_id, ${type}, ${endpoint.id}, ${message}, ${at}, 0, ${at}
    from account_notification where account_id = ${endpoint.account_id} for share`.execute(tx);
}

export async function saveNotification(tx: Tx, row: Insertable<AccountNotificationTable>): Promise<void> {
  const { url, secret, changed_at } = row;
  await tx
    .insertInto("account_notification")
    .values(row)
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet({ url, secret, changed_at }))
    .execute();
}

/** Notices that wait have nowhere to go any more. Nothing adds one once the first statement holds its lock. */
export async function deleteNotification(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom("account_notification").where("account_id", "=", accountId).execute();
  await tx.deleteFrom("account_notice").where("account_id", "=", accountId).execute();
}

export type DueNotice = Selectable<AccountNoticeTable> & { url: string; secret: Uint8Array };

/** `waitMsMax`: the longest wait between two tries. */
type NoticeLease = { at: Date; until: Date; limit: number; waitMsMax: number };

/** Leases notices that are due until a time: other processes skip them, and take over when this one crashes. */
export async function leaseNotices(db: Db, lease: NoticeLease): Promise<DueNotice[]> {
  const { rows } = await sql<DueNotice>`
    update account_notice set due_at = ${lease.until} from account_notification
    where account_notification.account_id = account_notice.account_id and account_notice.number in (
      select number from account_notice where ${isDue("due_at", { now: lease.at, waitMsMax: lease.waitMsMax })} order by due_at limit ${lease.limit} for update skip locked)
    returning account_notice.*, account_notification.url, account_notification.secret`.execute(db.root);
  return rows;
}

export async function deleteNotice(db: Db, number: bigint): Promise<void> {
  await db.root.deleteFrom("account_notice").where("number", "=", number).execute();
}

export async function delayNotice(db: Db, notice: { number: bigint; tries: number; dueAt: Date }): Promise<void> {
  await db.root
    .updateTable("account_notice")
    .set({ tries: notice.tries, due_at: notice.dueAt })
    .where("number", "=", notice.number)
    .execute();
}
