import { sql, type Kysely } from "kysely";

// Signed bytes of some kinds of chains are valid up to a block, and no fee replaces them: a later block cannot include them.

const statements: readonly string[] = [
  `alter table outgoing_attempt add column last_valid_height bigint check (last_valid_height >= 0)`,
  `alter table outgoing_attempt add check (last_valid_height is null or max_fee_per_gas is null)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
