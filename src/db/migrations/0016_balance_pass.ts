import { sql, type Kysely } from "kysely";

// The comparison of inbox balances with the ledger. A pass goes once over a selection of a chain's inboxes; its row says how far the pass
// is, so that a restart continues it and several processes share it.

const statements: readonly string[] = [
  `create table balance_pass (
    chain text not null,
    scope text not null check (scope in ('created','moved','viewed','all')),
    started_at timestamptz not null,
    position text,
    compared_count bigint not null default 0,
    next_at timestamptz not null,
    completed_at timestamptz,
    completed_count bigint,
    primary key (chain, scope)
  )`,
  `create table balance_difference (
    chain text not null,
    inbox text not null,
    token text not null,
    intent_id text not null references intent (id),
    block_number bigint not null,
    ledger_units numeric(78,0) not null,
    chain_units numeric(78,0) not null,
    searched_number bigint not null,
    lowest_number bigint,
    next_at timestamptz not null,
    found_at timestamptz not null,
    primary key (chain, inbox, token),
    check (ledger_units <> chain_units)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
