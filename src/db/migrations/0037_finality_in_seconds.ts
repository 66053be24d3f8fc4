import { sql, type Kysely } from "kysely";

// Times of blocks, so that a block can be final after seconds on the chain's own clock, and what each deposit waits for.

const statements = [
  `alter table block add column timestamp_s bigint`,
  `create index block_by_time on block (chain, timestamp_s, number) where orphaned_at is null`,
  // Nodes that prune have no first block.
  `alter table chain_cursor alter column genesis_hash drop not null`,
  `alter table deposit add column required_seconds int`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
