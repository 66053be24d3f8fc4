import { sql, type Kysely } from "kysely";

// What a call was answered with, so that the same call, sent again because its answer was lost, gets the same one.

const statements: readonly string[] = [
  `create table idempotent_answer (
    account_id text not null,
    operation text not null,
    key text not null check (length(key) between 1 and 255),
    body_hash bytea not null check (length(body_hash) = 32),
    status int not null check (status between 200 and 299),
    body json not null,
    expires_at timestamptz not null,
    primary key (account_id, operation, key)
  )`,
  `create index idempotent_answer_expiry on idempotent_answer (expires_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
