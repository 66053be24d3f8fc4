import { sql, type Kysely } from "kysely";

// An intent is found by its account and its id together. Another merchant's then ends in the index as one that never was does, and no row has
// to be read for the one and not for the other: their answers take the same time. The collation is named so that no other index will do.

const statements: readonly string[] = [`create unique index intent_of_account on intent (account_id, id collate "C")`];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
