import { sql, type Kysely } from "kysely";

// People who sign in by a wallet, what they may do, and what was changed by whom.

const statements: readonly string[] = [
  `create table member (
    id text not null,
    account_id text not null,
    namespace text not null,
    wallet text not null,
    role text not null,
    name text,
    created_at timestamptz not null,
    removed_at timestamptz,
    constraint member_pkey primary key (id),
    constraint member_account_id_fkey foreign key (account_id) references account(id),
    constraint member_namespace_check check (namespace in ('eip155', 'solana')),
    constraint member_role_check check (role in ('owner', 'developer', 'reader'))
  )`,
  `create unique index member_of_account on member (account_id, namespace, wallet) where (removed_at is null)`,
  `create index member_of_wallet on member (namespace, wallet) where (removed_at is null)`,
  // Texts that a wallet may sign once, to sign in.
  `create table sign_in_challenge (
    nonce text not null,
    namespace text not null,
    wallet text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    constraint sign_in_challenge_pkey primary key (nonce)
  )`,
  `create index sign_in_challenge_expires on sign_in_challenge (expires_at)`,
  // Sessions of members, beside those of keys.
  `create table member_session (
    id text not null,
    account_id text not null,
    member_id text not null,
    created_at timestamptz not null,
    seen_at timestamptz not null,
    expires_at timestamptz not null,
    constraint member_session_pkey primary key (id),
    constraint member_session_account_id_fkey foreign key (account_id) references account(id),
    constraint member_session_member_id_fkey foreign key (member_id) references member(id)
  )`,
  `create index member_session_expires on member_session (expires_at)`,
  // A change of where new intents are paid out: it waits, and can be stopped meanwhile.
  `create table payout_change (
    id text not null,
    account_id text not null,
    change json not null,
    status text not null,
    proposed_by text not null,
    proposed_at timestamptz not null,
    signed_by text,
    due_at timestamptz,
    ended_by text,
    ended_at timestamptz,
    constraint payout_change_pkey primary key (id),
    constraint payout_change_account_id_fkey foreign key (account_id) references account(id),
    constraint payout_change_status_check check (status in ('proposed', 'waiting', 'applied', 'stopped')),
    constraint payout_change_due check ((due_at is not null) or (status in ('proposed', 'stopped'))),
    constraint payout_change_ended check ((ended_at is not null) = (status in ('applied', 'stopped')))
  )`,
  `create unique index payout_change_open on payout_change (account_id) where (status in ('proposed', 'waiting'))`,
  `create index payout_change_due_at on payout_change (due_at) where (status = 'waiting')`,
  `create index payout_change_of_account on payout_change (account_id, proposed_at desc)`,
  // Who changed what, permanently.
  `create table audit_entry (
    number bigint generated always as identity not null,
    account_id text not null,
    at timestamptz not null,
    actor text not null,
    action text not null,
    details json not null,
    constraint audit_entry_pkey primary key (number),
    constraint audit_entry_account_id_fkey foreign key (account_id) references account(id)
  )`,
  `create index audit_entry_of_account on audit_entry (account_id, number desc)`,
  `create function audit_entry_stays() returns trigger language plpgsql as $function$
    begin
      raise exception 'an entry of the audit log is permanent';
    end $function$`,
  `create trigger audit_entry_stays before update or delete on audit_entry for each row execute function audit_entry_stays()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
