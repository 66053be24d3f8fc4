import { sql, type Kysely } from "kysely";

// Reads of the settlement station touch about as many rows as they return, however many movements and settlements the tables hold. An
// intent whose movements fail is quarantined, so that the other intents of its chain are not delayed.

const statements: readonly string[] = [
  // Due settlements in the order in which they became due.
  `drop index settlement_work`,
  `create index settlement_due on settlement (chain, retry_at, seq) where status in ('planned','held')`,
  // The transactions that submitted settlements wait for, each once.
  `create index settlement_submitted on settlement (chain, outgoing_id) where status = 'submitted'`,
  `create index block_by_number on block (chain, number)`,
  // Blocks up to this one were pruned; those that are left hold movements.
  `alter table chain_cursor add column pruned_number bigint not null default -1`,
  // An intent whose movements a station could not process. Revision and movement_id are the last movement before them.
  `create table quarantine (
    station text not null check (station in ('deposit','settlement')),
    chain text not null,
    intent_id text not null,
    revision bigint not null,
    movement_id bigint not null,
    reason text not null,
    attempts int not null check (attempts > 0),
    since timestamptz not null,
    retry_at timestamptz not null,
    primary key (station, chain, intent_id)
  )`,
  `create index quarantine_due on quarantine (station, chain, retry_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
