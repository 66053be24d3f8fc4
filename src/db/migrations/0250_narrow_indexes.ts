import { sql, type Kysely } from "kysely";

// An account's entries are read in the order of their postings, whatever their asset, so the index needs no asset. The
// numbers of intents have two unique indexes; one is enough.

const statements: readonly string[] = [
  `create index ledger_entry_in_order on ledger_entry (account, posting_id)`,
  `drop index ledger_entry_of_account`,
  `alter table intent drop constraint intent_seq_key`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
