import { sql, type Kysely } from "kysely";

// What several providers say of a deposit. A deposit that was agreed on names the time; one that is asked about has a row with the last
// answer of each provider, which is also what brings the question back after a crash.

const statements: readonly string[] = [
  `alter table deposit add column agreed_at timestamptz`,
  `create table deposit_agreement (
    deposit_id text primary key references deposit (id),
    chain text not null,
    block_hash text not null,
    state text not null check (state in ('asking','agreed')),
    answers json not null,
    attempts int not null default 0 check (attempts >= 0),
    asked_at timestamptz not null,
    retry_at timestamptz,
    check ((state = 'asking') = (retry_at is not null))
  )`,
  `create index deposit_agreement_due on deposit_agreement (chain, retry_at) where state = 'asking'`,
  // What was counted on one provider's word adds up against the limit for as long as nobody else has confirmed it.
  `create index deposit_unagreed on deposit (intent_id, chain) where status = 'counted' and agreed_at is null`,
  `create index deposit_held on deposit (chain, reason) where status = 'held'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
