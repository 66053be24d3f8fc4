import { sql, type Kysely } from "kysely";

// Sweeps above the single-provider limit, which several providers must confirm before their settlements land. After a crash another process
// resumes from the row.

const statements: readonly string[] = [
  `create table sweep_agreement (
    chain text not null,
    chain_tx text not null,
    intent_id text not null references intent (id),
    token text not null,
    legs_revision bigint not null,
    legs_count int not null check (legs_count > 0),
    state text not null check (state in ('asking','agreed')),
    answers json not null,
    attempts int not null default 0 check (attempts >= 0),
    asked_at timestamptz not null,
    retry_at timestamptz,
    primary key (chain, chain_tx, intent_id, token),
    check ((state = 'asking') = (retry_at is not null))
  )`,
  `create index sweep_agreement_due on sweep_agreement (chain, retry_at) where state = 'asking'`,
  `create index sweep_agreement_agreed on sweep_agreement (asked_at) where state = 'agreed'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
