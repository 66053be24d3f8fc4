import type { Db } from "../db/database.ts";

/** What a payer looks at. Empty texts mean everything of the intent. */
export type ViewHint = { intentId: string; namespace: string; reference: string; token: string; expiresAt: Date };

/** Remembers a hint, or renews it. */
export async function renewHint(db: Db, hint: ViewHint): Promise<void> {
  await db.read
    .insertInto("view_hint")
    .values({
      intent_id: hint.intentId,
      namespace: hint.namespace,
      reference: hint.reference,
      token: hint.token,
      expires_at: hint.expiresAt,
    })
    .onConflict((conflict) =>
      conflict.columns(["intent_id", "namespace", "reference", "token"]).doUpdateSet({ expires_at: hint.expiresAt }),
    )
    .execute();
}

export type HintedInbox = { inbox: string; token: string; expiresAt: Date };

/** Inboxes and tokens of one chain that payers look at, by hints that expire after `after`: the soonest first. */
export async function listHintedInboxes(
  db: Db,
  { namespace, reference, after, limit }: { namespace: string; reference: string; after: Date; limit: number },
): Promise<HintedInbox[]> {
  return db.read
    .selectFrom("view_hint")
    .innerJoin("intent", "intent.id", "view_hint.intent_id")
    .select(["intent.inbox_address as inbox", "view_hint.token", "view_hint.expires_at as expiresAt"])
    .where("view_hint.namespace", "=", namespace)
    .where("view_hint.reference", "=", reference)
    .where("view_hint.expires_at", ">", after)
    .orderBy("view_hint.expires_at")
    .limit(limit)
    .execute();
}
