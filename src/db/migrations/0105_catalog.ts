import { sql, type Kysely } from "kysely";

// Tokens that were ever configured.

const statements: readonly string[] = [
  // Every token that was ever configured. `symbol` is empty for tokens configured before this table existed.
  `create table served_token (
    chain text not null,
    token text not null,
    symbol text not null,
    since timestamptz not null,
    constraint served_token_pkey primary key (chain, token)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
