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
