import { sql, type Kysely } from "kysely";

// Accounts that the service creates before a payer pays, on kinds of chains where receiving needs one. An open row holds what one account
// costs until it is closed again.

const statements: readonly string[] = [
  `create table primed_account (
    id bigint generated always as identity primary key,
    chain text not null,
    intent_id text not null references intent (id),
    account_id text not null references account (id),
    token text not null,
    status text not null check (status in ('planned','submitted','open','closing','closed')),
    reason text,
    outgoing_id bigint references outgoing_transaction (id),
    keep_until timestamptz not null,
    retry_at timestamptz not null,
    created_at timestamptz not null,
    closed_at timestamptz,
    check (status not in ('submitted','closing') or outgoing_id is not null),
    check ((status = 'closed') = (closed_at is not null))
  )`,
  // Also lists the open rows of a chain, which the configured limit keeps few.
  `create unique index primed_account_open on primed_account (chain, intent_id, token) where status <> 'closed'`,
  `create index primed_account_recent on primed_account (account_id, chain, created_at)`,
  `create index primed_account_purge on primed_account (closed_at) where closed_at is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
