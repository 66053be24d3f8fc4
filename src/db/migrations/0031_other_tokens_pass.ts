import { sql, type Kysely } from "kysely";

// Where an inbox takes one token, a pass compares what it holds of the other configured ones.

const statements: readonly string[] = [
  "alter table balance_pass drop constraint balance_pass_scope_check",
  "alter table balance_pass add check (scope in ('created','moved','viewed','all','settled','other_tokens'))",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
