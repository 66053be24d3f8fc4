import type { Insertable, Selectable } from "kysely";
import type { Db } from "../db/database.ts";
import type { AccountTable, ApiKeyTable } from "../db/schema.ts";

export type AccountRow = Selectable<AccountTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;

export async function insertAccount(db: Db, account: Insertable<AccountTable>): Promise<AccountRow> {
  return db.read.insertInto("account").values(account).returningAll().executeTakeFirstOrThrow();
}

export async function insertKey(db: Db, key: ApiKeyRow): Promise<void> {
  await db.read.insertInto("api_key").values(key).execute();
}

/** A key with its account, in one read. */
export async function findKey(db: Db, keyId: string): Promise<{ key: ApiKeyRow; account: AccountRow } | undefined> {
  const row = await db.read
    .selectFrom("api_key")
    .innerJoin("account", "account.id", "api_key.account_id")
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
    ])
    .where("api_key.key_id", "=", keyId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { key_id, account_id, secret_hash, scopes, key_created_at, expires_at, revoked_at, last_used_at, ...account } =
    row;
  const key = {
    key_id,
    account_id,
    secret_hash,
    scopes,
    created_at: key_created_at,
    expires_at,
    revoked_at,
    last_used_at,
  };
  return { key, account };
}

export async function findAccount(db: Db, accountId: string): Promise<AccountRow | undefined> {
  return db.read.selectFrom("account").selectAll().where("id", "=", accountId).executeTakeFirst();
}

/** Accounts, oldest first. */
export async function listAccountRows(db: Db, limit: number): Promise<AccountRow[]> {
  return db.read.selectFrom("account").selectAll().orderBy("created_at").orderBy("id").limit(limit).execute();
}

/** Keys of an account, or of all, oldest first. */
export async function listKeyRows(db: Db, scope: { accountId?: string; limit: number }): Promise<ApiKeyRow[]> {
  return db.read
    .selectFrom("api_key")
    .selectAll()
    .$if(scope.accountId !== undefined, (select) => select.where("account_id", "=", scope.accountId ?? ""))
    .orderBy("created_at")
    .orderBy("key_id")
    .limit(scope.limit)
    .execute();
}

/** True when the key exists; one that was revoked before keeps its time. */
export async function markRevoked(db: Db, key: { keyId: string; at: Date }): Promise<boolean> {
  const known = await db.read.selectFrom("api_key").select("key_id").where("key_id", "=", key.keyId).executeTakeFirst();
  await db.read
    .updateTable("api_key")
    .set({ revoked_at: key.at })
    .where("key_id", "=", key.keyId)
    .where("revoked_at", "is", null)
    .execute();
  return known !== undefined;
}

/** Remembers that a key is in use, to the minute: a write for every request would cost more than the request. */
export async function markUsed(db: Db, use: { keyId: string; at: Date; unlessSince: Date }): Promise<void> {
  await db.read
    .updateTable("api_key")
    .set({ last_used_at: use.at })
    .where("key_id", "=", use.keyId)
    .where((where) => where.or([where("last_used_at", "is", null), where("last_used_at", "<", use.unlessSince)]))
    .execute();
}
