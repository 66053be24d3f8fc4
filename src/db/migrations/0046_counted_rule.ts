import { sql, type Kysely } from "kysely";

// By which rule of its chain a deposit counted, and how far that rule and the next stricter one reached at that moment.
// A check of the database can then tell a deposit that counted too early from one whose chain or configuration changed
// since.

const statements = [
  `alter table deposit add column counted_final_block bigint, add column counted_next_block bigint, add column counted_limit_units numeric(78, 0)`,
  `alter table deposit add constraint deposit_counted_limit check ((counted_limit_units is null) = (counted_next_block is null))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
