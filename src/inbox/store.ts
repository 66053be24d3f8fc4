import type { Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import type { SourceInboxTable } from "./inboxTables.ts";
import { insertSourceAddress } from "../intent/inboxStore.ts";
import { caip2, type Caip2, type Namespace } from "../kernel/caip.ts";

export type SourceInboxRow = Selectable<SourceInboxTable>;

/** Identifies a source inbox of an intent. Without a token it matches any inbox on the chain. */
export type SourceInboxKey = { intentId: string; namespace: Namespace; reference: string; token?: string };

export async function findSourceInbox(db: Db["root"] | Tx, key: SourceInboxKey): Promise<SourceInboxRow | undefined> {
  return db
    .selectFrom("source_inbox")
    .selectAll()
    .where("intent_id", "=", key.intentId)
    .where("namespace", "=", key.namespace)
    .where("reference", "=", key.reference)
    .$if(key.token !== undefined, (select) => select.where("token", "=", key.token ?? ""))
    .limit(1)
    .executeTakeFirst();
}

/** The chains on which an intent has a source inbox. */
export async function listSourceInboxChains(db: Db, intentId: string): Promise<Caip2[]> {
  const rows = await db.root
    .selectFrom("source_inbox")
    .select(["namespace", "reference"])
    .distinct()
    .where("intent_id", "=", intentId)
    .execute();
  return rows.map(({ namespace, reference }) => caip2(namespace, reference));
}

/**
 * Inserts a source inbox. The caller has locked its intent and checked that the key is free. Returns false and writes
 * nothing when the address belongs to another intent.
 */
export async function insertSourceInbox(tx: Tx, inbox: SourceInboxRow): Promise<boolean> {
  const { intent_id, namespace, reference, address, token, issued_at: at } = inbox;
  if (!(await insertSourceAddress(tx, { chain: caip2(namespace, reference), address, intent_id, token, at })))
    return false;
  await tx.insertInto("source_inbox").values(inbox).execute();
  return true;
}

export type OriginSwitch = { chain: Caip2; token: string; isEnabled: boolean };

/** Every origin that the operator has ever switched. The number of configured tokens bounds the list. */
export async function listOriginSwitches(db: Db): Promise<OriginSwitch[]> {
  return db.root
    .selectFrom("origin_switch")
    .select(["chain", "token", "is_enabled as isEnabled"])
    .orderBy("chain")
    .orderBy("token")
    .execute();
}

export async function writeOriginSwitch(db: Db, change: OriginSwitch & { at: Date }): Promise<void> {
  const row = { is_enabled: change.isEnabled, changed_at: change.at };
  await db.root
    .insertInto("origin_switch")
    .values({ chain: change.chain, token: change.token, ...row })
    .onConflict((conflict) => conflict.columns(["chain", "token"]).doUpdateSet(row))
    .execute();
}
