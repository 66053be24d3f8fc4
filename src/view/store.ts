import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { isInboxOnChain } from "../intent/inboxStore.ts";
import { caip2, type Namespace } from "../kernel/caip.ts";

/** What a payer looks at. */
export type ViewHint = { intentId: string; namespace: string; reference: string; token: string; expiresAt: Date };

/** Remembers hints of different places, or renews them. */
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

export type HintedInbox = { inbox: string; token: string; expiresAt: Date };

/** Inboxes and tokens of one chain that payers look at, by hints that expire after `after`: the soonest first. */
export async function listHintedInboxes(
  db: Db,
  { namespace, reference, after, limit }: { namespace: Namespace; reference: string; after: Date; limit: number },
): Promise<HintedInbox[]> {
  // Of a few hints each inbox is looked up by its index: a join would read the whole table of inboxes instead.
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
