import { sql } from "kysely";
import type { Db } from "../../db/database.ts";

/** What an operator sees of an account's events and webhooks. */
export type AccountWebhooks = {
  /** The last sequence of its feed. */
  lastSequence: bigint;
  enabled: number;
  disabled: number;
  /** Where it is told that an endpoint fails; null when it has named no URL. */
  notifyUrl: string | null;
};

/** Reads at most as many rows as an account may have endpoints. */
export async function readAccountWebhooks(db: Db, accountId: string): Promise<AccountWebhooks> {
  const { rows } = await sql<AccountWebhooks>`
    select coalesce((select last_sequence from event_counter
        where account_number = (select number from account where id = ${accountId})), 0) as "lastSequence",
      (count(*) filter (where status = 'enabled'))::int as enabled, (count(*) filter (where status = 'disabled'))::int as disabled,
      (select url from account_notification where account_id = ${accountId}) as "notifyUrl"
    from webhook_endpoint where account_id = ${accountId} and deleted_at is null`.execute(db.root);
  return rows[0] ?? { lastSequence: 0n, enabled: 0, disabled: 0, notifyUrl: null };
}
