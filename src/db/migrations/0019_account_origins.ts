import { sql, type Kysely } from "kysely";

/** Null allows every origin. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table account add column origins text[]`.execute(db);
}
