import { sql, type Kysely } from "kysely";

// What merchants are told, in the order of each account.

const statements: readonly string[] = [
  // Events created up to this time may have been deleted.
  `create table event_expiry (
    only_row boolean default true not null,
    expired_before timestamptz not null,
    constraint event_expiry_pkey primary key (only_row),
    constraint event_expiry_only_row_check check (only_row)
  )`,
  `create table event (
    "position" bigint generated always as identity,
    sequence bigint,
    intent_number bigint,
    created_at timestamptz not null,
    account_number integer not null,
    type smallint not null,
    format smallint not null,
    livemode boolean not null,
    id bytea not null,
    content json not null,
    constraint event_pkey primary key ("position"),
    constraint event_id_key unique (id),
    constraint event_id_check check (octet_length(id) = 16)
  )`,
  `create unique index event_sequence on event (account_number, sequence) where (sequence is not null)`,
  `create index event_unstamped on event ("position") where (sequence is null)`,
  // `revision` increases with every assignment of sequences, in the order of their commits.
  `create table event_counter (
    account_number integer not null,
    last_sequence bigint not null,
    revision bigint not null,
    constraint event_counter_pkey primary key (account_number)
  )`,
  `create index event_counter_revision on event_counter (revision)`,
  // A number that only rises, and the server that it rose on. Each time one of them shows that the database lost
  // commits, an epoch begins; accounts above `feeds_restored_to` do not have their events of it yet.
  `create table database_epoch (
    only_row boolean default true not null,
    epoch integer not null,
    counter bigint not null,
    system_identifier text,
    timeline_id integer,
    began_at timestamptz,
    reason text,
    feeds_restored_to integer,
    constraint database_epoch_pkey primary key (only_row),
    constraint database_epoch_only_row_check check (only_row),
    constraint database_epoch_reason_check check (reason in ('counter', 'server', 'timeline', 'marked')),
    constraint database_epoch_began_check check ((epoch = 0) = (began_at is null) and (epoch = 0) = (reason is null))
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
