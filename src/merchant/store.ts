import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { AccountTable, ApiKeyTable, PageOriginTable } from "./merchantTables.ts";

export type AccountRow = Selectable<AccountTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;

export async function insertAccount(db: Db, account: Insertable<AccountTable>): Promise<AccountRow> {
  return db.root.insertInto("account").values(account).returningAll().executeTakeFirstOrThrow();
}

export async function insertKey(db: Db["root"] | Tx, key: Insertable<ApiKeyTable>): Promise<void> {
  await db.insertInto("api_key").values(key).execute();
}

/** Locks a key, so that it is not rotated twice at once. */
export async function lockKey(tx: Tx, keyId: string): Promise<ApiKeyRow | undefined> {
  return tx.selectFrom("api_key").selectAll().where("key_id", "=", keyId).forUpdate().executeTakeFirst();
}

/** Sets a key's expiry. The caller holds the key's lock. */
export async function updateKeyExpiry(tx: Tx, key: { keyId: string; expiresAt: Date }): Promise<void> {
  await tx.updateTable("api_key").set({ expires_at: key.expiresAt }).where("key_id", "=", key.keyId).execute();
}

export type KeyWithAccount = { key: ApiKeyRow; account: AccountRow; version: bigint };

/**
 * Reads a key with its account and their version in one statement. The lookup uses the hash of the whole key, including
 * its id, so that a wrong secret behaves like an unknown id: the index finds nothing and no row is read.
 */
export async function findKey(db: Db, hash: Uint8Array): Promise<KeyWithAccount | undefined> {
  const row = await db.root
    .selectFrom("api_key")
    .innerJoin("account", "account.id", "api_key.account_id")
    .innerJoin("merchant_version", (join) => join.onTrue())
    .selectAll("account")
    .select([
      "api_key.key_id",
      "api_key.account_id",
      "api_key.secret_hash",
      "api_key.scopes",
      "api_key.created_at as key_created_at",
      "api_key.expires_at",
      "api_key.revoked_at",
      "api_key.last_used_at",
      "api_key.default_namespace",
      "merchant_version.version",
    ])
    .where("api_key.secret_hash", "=", hash)
    .executeTakeFirst();
  if (!row) return undefined;
  const { key_id, account_id, secret_hash, scopes, key_created_at, expires_at, revoked_at, last_used_at, ...rest } =
    row;
  const { version, default_namespace, ...account } = rest;
  const key = {
    key_id,
    account_id,
    secret_hash,
    scopes,
    created_at: key_created_at,
    expires_at,
    revoked_at,
    last_used_at,
    default_namespace,
  };
  return { key, account, version };
}

/** The version of keys and accounts. Inserts do not increase it, because no cache holds the new row. */
export async function readMerchantVersion(db: Db): Promise<bigint> {
  const row = await db.root.selectFrom("merchant_version").select("version").executeTakeFirstOrThrow();
  return row.version;
}

export async function findAccount(db: Db, accountId: string): Promise<AccountRow | undefined> {
  return db.root.selectFrom("account").selectAll().where("id", "=", accountId).executeTakeFirst();
}

/** Returns the account with its new status; undefined when it does not exist. */
export async function updateAccountStatus(
  db: Db,
  change: { accountId: string; status: AccountRow["status"] },
): Promise<AccountRow | undefined> {
  return db.root
    .updateTable("account")
    .set({ status: change.status })
    .where("id", "=", change.accountId)
    .returningAll()
    .executeTakeFirst();
}

/** Changes an account in the caller's transaction, which holds its lock. */
export async function updateAccountRow(
  tx: Tx,
  { id, change }: { id: string; change: Updateable<AccountTable> },
): Promise<AccountRow> {
  return tx.updateTable("account").set(change).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

/** A page of a list. `after`: the id of the last row of the page before; an unknown id ends the list. */
export type ListPage = { limit: number; after?: string | undefined };

/** Lists accounts, oldest first. */
export async function listAccountRows(db: Db, { limit, after }: ListPage): Promise<AccountRow[]> {
  return db.root
    .selectFrom("account")
    .selectAll()
    .$if(after !== undefined, (select) =>
      select.where(sql<boolean>`(created_at, id) > (select created_at, id from account where id = ${after ?? ""})`),
    )
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Lists the keys of one account, or of all, oldest first. */
export async function listKeyRows(db: Db, scope: ListPage & { accountId?: string | undefined }): Promise<ApiKeyRow[]> {
  return db.root
    .selectFrom("api_key")
    .selectAll()
    .$if(scope.accountId !== undefined, (select) => select.where("account_id", "=", scope.accountId ?? ""))
    .$if(scope.after !== undefined, (select) =>
      select.where(
        sql<boolean>`(created_at, key_id) > (select created_at, key_id from api_key where key_id = ${scope.after ?? ""})`,
      ),
    )
    .orderBy("created_at")
    .orderBy("key_id")
    .limit(scope.limit)
    .execute();
}

/** Revokes a key and returns whether it exists. A key that is already revoked keeps its time. */
export async function updateRevoked(on: Db["root"] | Tx, key: { keyId: string; at: Date }): Promise<boolean> {
  const known = await on.selectFrom("api_key").select("key_id").where("key_id", "=", key.keyId).executeTakeFirst();
  await on
    .updateTable("api_key")
    .set({ revoked_at: key.at })
    .where("key_id", "=", key.keyId)
    .where("revoked_at", "is", null)
    .execute();
  return known !== undefined;
}

export type KeyUse = { keyId: string; at: Date };

/**
 * Writes the last use of keys. It skips rows that another transaction has locked, because one use is not worth a wait.
 */
export async function updateLastUsed(db: Db, uses: readonly KeyUse[]): Promise<void> {
  const keyIds = uses.map((use) => use.keyId);
  const times = uses.map((use) => use.at);
  await sql`/* named: mark_used */
    update api_key set last_used_at = used.at
    from unnest(${array(keyIds, "text")}, ${array(times, "timestamptz")}) as used (key_id, at)
    where api_key.key_id = used.key_id and (api_key.last_used_at is null or api_key.last_used_at < used.at)
      and api_key.key_id in (
        select key_id from api_key where key_id = any(${array(keyIds, "text")}) for no key update skip locked
      )`.execute(db.root);
}

/** Locks an account, so that concurrent additions to its lists happen one after the other. */
export async function lockAccount(tx: Tx, accountId: string): Promise<AccountRow | undefined> {
  return tx.selectFrom("account").selectAll().where("id", "=", accountId).forUpdate().executeTakeFirst();
}

/** Lists the page origins of an account in alphabetical order. */
export async function listPageOriginRows(on: Db["root"] | Tx, accountId: string): Promise<string[]> {
  const rows = await on
    .selectFrom("page_origin")
    .select("origin")
    .where("account_id", "=", accountId)
    .orderBy("origin")
    .execute();
  return rows.map(({ origin }) => origin);
}

export async function insertPageOrigin(tx: Tx, row: Insertable<PageOriginTable>): Promise<void> {
  await tx.insertInto("page_origin").values(row).execute();
}

/** Makes these the page origins of an account. Origins that stay keep their time. The caller has locked the account. */
export async function replacePageOriginRows(
  tx: Tx,
  { accountId, origins, addedAt }: { accountId: string; origins: readonly string[]; addedAt: Date },
): Promise<void> {
  await tx
    .deleteFrom("page_origin")
    .where("account_id", "=", accountId)
    .where(sql<boolean>`origin <> all(${array(origins, "text")})`)
    .execute();
  if (origins.length === 0) return;
  await tx
    .insertInto("page_origin")
    .values(origins.map((origin) => ({ account_id: accountId, origin, added_at: addedAt })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes a page origin; returns false when it was not listed. */
export async function deletePageOrigin(db: Db, key: { accountId: string; origin: string }): Promise<boolean> {
  const deleted = await db.root
    .deleteFrom("page_origin")
    .where("account_id", "=", key.accountId)
    .where("origin", "=", key.origin)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}
