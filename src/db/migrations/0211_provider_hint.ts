import { sql, type Kysely } from "kysely";

// When a provider last said by its webhook where to look.

const statements: readonly string[] = [
  `create table provider_hint (
    chain text not null,
    provider text not null,
    last_at timestamptz not null,
    constraint provider_hint_pkey primary key (chain, provider)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
