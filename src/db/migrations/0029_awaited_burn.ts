import { sql, type Kysely } from "kysely";

// Mints of inboxes' own burns that are not matched yet. What is left after some minutes shows a burn that no provider has reported.

const statements: readonly string[] = [
  `create table awaited_burn (
    mint_id bigint primary key references movement (id),
    bridge text not null,
    searched_number bigint,
    lowest_number bigint,
    attempts int not null default 0,
    next_at timestamptz not null,
    unexplained_since timestamptz not null
  )`,
  `create index awaited_burn_due on awaited_burn (bridge, next_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
