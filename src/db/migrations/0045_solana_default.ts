import { sql, type Kysely } from "kysely";

// An account may have a default destination on Solana beside its own, and a key may be bound to it.

const statements: readonly string[] = [
  `alter table account add column solana_default_reference text, add column solana_default_wallet text,
    add constraint account_solana_default check (num_nulls(solana_default_reference, solana_default_wallet) in (0, 2))`,
  `alter table api_key add column default_namespace text check (default_namespace = 'solana')`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
