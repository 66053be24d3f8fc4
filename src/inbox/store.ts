import type { Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import type { SourceInboxTable } from "../db/schema.ts";
import type { Namespace } from "../kernel/caip.ts";

export type SourceInboxRow = Selectable<SourceInboxTable>;

type Place = { intentId: string; namespace: Namespace; reference: string };

export async function findSourceInbox(db: Db, place: Place): Promise<SourceInboxRow | undefined> {
  return db.read
    .selectFrom("source_inbox")
    .selectAll()
    .where("intent_id", "=", place.intentId)
    .where("namespace", "=", place.namespace)
    .where("reference", "=", place.reference)
    .executeTakeFirst();
}

/** The new row, or undefined when somebody was quicker: there is one inbox a place, for ever. */
export async function insertSourceInbox(tx: Tx, inbox: SourceInboxRow): Promise<SourceInboxRow | undefined> {
  return tx
    .insertInto("source_inbox")
    .values(inbox)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}
