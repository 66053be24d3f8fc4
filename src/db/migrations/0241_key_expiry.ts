import { sql, type Kysely } from "kysely";

// Keys that expire soon are found without reading the others.

const statements: readonly string[] = [
  `create index api_key_expires on api_key (expires_at) where ((expires_at is not null) and (revoked_at is null))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
