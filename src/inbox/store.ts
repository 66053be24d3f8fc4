import type { Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import type { SourceInboxTable } from "../db/schema.ts";
import type { Caip2, Namespace } from "../kernel/caip.ts";

export type SourceInboxRow = Selectable<SourceInboxTable>;

/** Where an inbox of an intent stands. Without a token, any of the chain. */
export type Place = { intentId: string; namespace: Namespace; reference: string; token?: string };

export async function findSourceInbox(db: Db, place: Place): Promise<SourceInboxRow | undefined> {
  return db.read
    .selectFrom("source_inbox")
    .selectAll()
    .where("intent_id", "=", place.intentId)
    .where("namespace", "=", place.namespace)
    .where("reference", "=", place.reference)
    .$if(place.token !== undefined, (select) => select.where("token", "=", place.token ?? ""))
    .limit(1)
    .executeTakeFirst();
}

export type Inserted =
  | { kind: "inserted"; inbox: SourceInboxRow }
  /** Somebody was quicker: there is one inbox a place, for ever, and it is this one. */
  | { kind: "present"; inbox: SourceInboxRow }
  /** The address belongs to another intent. Nothing was written. */
  | { kind: "taken" };

/** The caller holds the intent's lock, so that nobody else inserts at this place meanwhile. */
export async function insertSourceInbox(tx: Tx, inbox: SourceInboxRow): Promise<Inserted> {
  const { intent_id, namespace, reference, token, address } = inbox;
  const present = await tx
    .selectFrom("source_inbox")
    .selectAll()
    .where("intent_id", "=", intent_id)
    .where("namespace", "=", namespace)
    .where("reference", "=", reference)
    .where("token", "=", token)
    .executeTakeFirst();
  if (present !== undefined) return { kind: "present", inbox: present };
  const owned = { namespace, reference, address };
  await tx
    .insertInto("inbox_address")
    .values({ ...owned, intent_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const owner = await tx
    .selectFrom("inbox_address")
    .select("intent_id")
    .where("namespace", "=", namespace)
    .where("reference", "=", reference)
    .where("address", "=", address)
    .executeTakeFirst();
  if (owner?.intent_id !== intent_id) return { kind: "taken" };
  return {
    kind: "inserted",
    inbox: await tx.insertInto("source_inbox").values(inbox).returningAll().executeTakeFirstOrThrow(),
  };
}

export type OriginSwitch = { chain: Caip2; token: string; isEnabled: boolean };

/** Every origin that the operator has switched at some time. There are as many as tokens in the configuration, at most. */
export async function listOriginSwitches(db: Db): Promise<OriginSwitch[]> {
  return db.read
    .selectFrom("origin_switch")
    .select(["chain", "token", "is_enabled as isEnabled"])
    .orderBy("chain")
    .orderBy("token")
    .execute();
}

export async function writeOriginSwitch(db: Db, change: OriginSwitch & { at: Date }): Promise<void> {
  const row = { is_enabled: change.isEnabled, changed_at: change.at };
  await db.read
    .insertInto("origin_switch")
    .values({ chain: change.chain, token: change.token, ...row })
    .onConflict((conflict) => conflict.columns(["chain", "token"]).doUpdateSet(row))
    .execute();
}
