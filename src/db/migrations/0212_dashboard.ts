import { sql, type Kysely } from "kysely";

// Who opens the operator's page and the dashboard, and the search by a payer's address.

const statements: readonly string[] = [
  // Links that open the operator's page once.
  `create table ops_link (
    code_hash bytea not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    constraint ops_link_pkey primary key (code_hash),
    constraint ops_link_code_hash_check check (octet_length(code_hash) = 32)
  )`,
  `create index ops_link_expires on ops_link (expires_at)`,
  // Who is signed in to the dashboard.
  `create table dashboard_session (
    id text not null,
    account_id text not null,
    key_id text not null,
    created_at timestamptz not null,
    seen_at timestamptz not null,
    expires_at timestamptz not null,
    constraint dashboard_session_pkey primary key (id),
    constraint dashboard_session_account_id_fkey foreign key (account_id) references account(id),
    constraint dashboard_session_key_id_fkey foreign key (key_id) references api_key(key_id)
  )`,
  `create index dashboard_session_expires on dashboard_session (expires_at)`,
  `create index deposit_sender on deposit (sender, seq desc)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
