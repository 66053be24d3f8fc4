import { sql, type Kysely } from "kysely";

// Accounts that the service creates before a payer pays, on kinds of chains where receiving needs one.

const statements: readonly string[] = [
  // An account that this service creates, so that an inbox can receive a token, and closes again.
  `create table primed_account (
    id bigint generated always as identity,
    chain text not null,
    intent_id text not null,
    account_id text not null,
    token text not null,
    status text not null,
    reason text,
    outgoing_id bigint,
    keep_until timestamptz not null,
    retry_at timestamptz not null,
    created_at timestamptz not null,
    closed_at timestamptz,
    constraint primed_account_pkey primary key (id),
    constraint primed_account_check check ((status <> all (array['submitted', 'closing'])) or (outgoing_id is not null)),
    constraint primed_account_check1 check ((status = 'closed') = (closed_at is not null)),
    constraint primed_account_status_check check (status in ('planned', 'submitted', 'open', 'closing', 'closed')),
    constraint primed_account_account_id_fkey foreign key (account_id) references account(id),
    constraint primed_account_intent_id_fkey foreign key (intent_id) references intent(id),
    constraint primed_account_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id)
  )`,
  `create unique index primed_account_open on primed_account (chain, intent_id, token) where (status <> 'closed')`,
  `create index primed_account_purge on primed_account (closed_at) where (closed_at is not null)`,
  `create index primed_account_recent on primed_account (account_id, chain, created_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
