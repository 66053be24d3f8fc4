import { sql, type Kysely } from "kysely";

// Responses that a repeated request gets again.

const statements: readonly string[] = [
  `create table idempotent_answer (
    account_id text not null,
    operation text not null,
    key text not null,
    body_hash bytea not null,
    status integer not null,
    body json not null,
    expires_at timestamptz not null,
    constraint idempotent_answer_pkey primary key (account_id, operation, key),
    constraint idempotent_answer_body_hash_check check (length(body_hash) = 32),
    constraint idempotent_answer_key_check check ((length(key) >= 1) and (length(key) <= 255)),
    constraint idempotent_answer_status_check check ((status >= 200) and (status <= 299))
  )`,
  `create index idempotent_answer_expiry on idempotent_answer (expires_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
