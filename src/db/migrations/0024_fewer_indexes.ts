import { sql, type Kysely } from "kysely";

// Each index costs every insert. These served no statement, or no row before its sequence.

const statements: readonly string[] = [
  // Identity columns are unique without it, and every page is of one intent.
  "alter table deposit drop constraint deposit_seq_key",
  "alter table settlement drop constraint settlement_seq_key",
  // An event enters the index with its sequence, and not once before.
  "create unique index event_sequence on event (account_id, sequence) where sequence is not null",
  "alter table event drop constraint event_account_id_sequence_key",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
