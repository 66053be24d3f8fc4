import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { isInboxOnChain } from "../intent/inboxStore.ts";
import { caip2, type Namespace } from "../kernel/caip.ts";

/** Marks an intent's inbox, for one token on one chain, as viewed by a payer until `expiresAt`. */
export type ViewHint = { intentId: string; namespace: string; reference: string; token: string; expiresAt: Date };

/** Inserts hints or renews their expiry. Each key may occur once in `hints`. */
export async function upsertViewHints(db: Db, hints: readonly ViewHint[]): Promise<void> {
  if (hints.length === 0) return;
  const rows = hints.map(({ intentId, namespace, reference, token, expiresAt }) => ({
    intent_id: intentId,
    namespace,
    reference,
    token,
    expires_at: expiresAt,
  }));
  await db.root
    .insertInto("view_hint")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(["intent_id", "namespace", "reference", "token"])
        .doUpdateSet((excluded) => ({ expires_at: excluded.ref("excluded.expires_at") })),
    )
    .execute();
}

/**
 * Deletes up to `limit` hints that expired before a time, and returns their number. A hint that is renewed meanwhile
 * stays.
 */
export async function deleteExpiredHints(db: Db, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from view_hint where ctid = any(array(
      select ctid from view_hint where expires_at < ${before} order by expires_at limit ${limit} for update skip locked
    )) returning 1`.execute(db.root);
  return rows.length;
}

export type HintedInbox = { inbox: string; token: string; expiresAt: Date };

/** Inboxes and tokens of one chain with hints that expire after `after`, soonest expiry first. */
export async function listHintedInboxes(
  db: Db,
  { namespace, reference, after, limit }: { namespace: Namespace; reference: string; after: Date; limit: number },
): Promise<HintedInbox[]> {
  // The lateral subquery looks up each inbox by index; the planner would read the whole inbox table for a plain join.
  const { rows } = await sql<HintedInbox>`
    select found.address as inbox, view_hint.token, view_hint.expires_at as "expiresAt"
    from view_hint cross join lateral (
      select inbox.address from inbox
      where inbox.intent_id = view_hint.intent_id and ${isInboxOnChain(caip2(namespace, reference))}
        and inbox.token in ('', view_hint.token) offset 0) as found
    where view_hint.namespace = ${namespace} and view_hint.reference = ${reference} and view_hint.expires_at > ${after}
    order by view_hint.expires_at limit ${limit}`.execute(db.root);
  return rows;
}
