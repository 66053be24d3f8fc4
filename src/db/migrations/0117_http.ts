import { sql, type Kysely } from "kysely";

// Calls of one rate-limit key. Lost with a crash, which only admits a few more.

const statements: readonly string[] = [
  // The calls of one rate-limit key. Times are milliseconds of the database's clock.
  `create unlogged table rate_log (
    key text not null,
    counted_until_ms bigint[] not null,
    granted integer not null,
    granted_until_ms bigint not null,
    holder text not null,
    constraint rate_log_pkey primary key (key),
    constraint rate_log_granted_check check (granted >= 0)
  ) with (fillfactor=50)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
