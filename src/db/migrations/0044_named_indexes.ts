import { sql, type Kysely } from "kysely";

// Indexes whose first columns are the same for very many movements. Without statistics, or with those of an empty table, the planner takes
// them for as selective as the index of one inbox or transaction. Their first column is therefore an expression, which only the statements
// that need them contain.

const statements: readonly string[] = [
  "drop index movement_by_block",
  "create index movement_by_block on movement ((chain || ''), block_number)",
  "drop index movement_handover",
  "create index movement_handover on movement ((chain || ' ' || direction), revision, id)",
  "drop index movement_page",
  "create index movement_page on movement ((intent_id || ''), id desc) include (intent_id, chain, revision) where direction = 'in'",
  "drop index movement_revision_of_intent",
  "create index movement_revision_of_intent on movement ((intent_id || ' ' || chain), revision, id) where direction = 'in'",
  "drop index settlement_of_intent",
  "create index settlement_of_intent on settlement ((intent_id || ''), seq)",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
