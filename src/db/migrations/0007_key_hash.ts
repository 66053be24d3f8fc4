import { sql, type Kysely } from "kysely";

// A key is looked up by the hash of all of it. A wrong secret then finds in the index what an unknown id finds, nothing, and no row
// has to be read for the one and not for the other: their answers take the same time.

const statements: readonly string[] = [`create unique index api_key_of_hash on api_key (secret_hash)`];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
