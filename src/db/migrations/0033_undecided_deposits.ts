import { sql, type Kysely } from "kysely";

// An intent is decided with its deposits that are in no final state, those held for the providers' agreement included.

const statements: readonly string[] = [
  `drop index deposit_open`,
  `create index deposit_undecided on deposit (intent_id, chain) where status in ('seen','confirmed')
    or status = 'held' and reason in ('provider_disagreement','provider_agreement_pending')`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
