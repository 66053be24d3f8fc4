import { sql, type Kysely } from "kysely";

// Transfers whose amount a provider first showed otherwise: as dust they may be in the sums already.

const statements: readonly string[] = [`alter table movement add column is_resized boolean default false not null`];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
