import type { Selectable } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import type { AccountBrandTable } from "../merchantTables.ts";

export type BrandRow = Selectable<AccountBrandTable>;

/** The brand of an account; undefined before the first change. */
export async function findBrand(on: Db["root"] | Tx, accountId: string): Promise<BrandRow | undefined> {
  return on.selectFrom("account_brand").selectAll().where("account_id", "=", accountId).executeTakeFirst();
}

/** Inserts or replaces the brand of an account. The caller has locked the account. */
export async function writeBrand(tx: Tx, row: BrandRow): Promise<void> {
  const { account_id, ...columns } = row;
  await tx
    .insertInto("account_brand")
    .values({ account_id, ...columns })
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(columns))
    .execute();
}
