import { sql, type Kysely } from "kysely";

// Where deposits are found by balances, a pass reads again what settlements moved.

const statements: readonly string[] = [
  "alter table balance_pass drop constraint balance_pass_scope_check",
  "alter table balance_pass add check (scope in ('created','moved','viewed','all','settled'))",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
