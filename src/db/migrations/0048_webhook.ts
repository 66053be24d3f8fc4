import { sql, type Kysely } from "kysely";

// Webhooks: endpoints, the deliveries to each, the tries of each delivery, and the notices that go out by another way
// when an endpoint fails.

const statements: readonly string[] = [
  `create table webhook_endpoint (
    number integer generated always as identity primary key,
    id text not null unique,
    account_id text not null references account (id),
    url text not null,
    types text[] not null check (cardinality(types) > 0),
    description text,
    status text not null check (status in ('enabled','disabled')),
    disabled_reason text check (disabled_reason in ('requested','gone','failing')),
    secret bytea not null check (octet_length(secret) between 24 and 64),
    earlier_secret bytea,
    earlier_secret_until timestamptz,
    fanned_sequence bigint not null,
    is_behind boolean not null,
    due_at timestamptz,
    lease_token bigint not null,
    leased_until timestamptz,
    failing_since timestamptz,
    failing_reported_at timestamptz,
    undelivered_sequence bigint,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz,
    check ((status = 'disabled') = (disabled_reason is not null)),
    check ((earlier_secret is null) = (earlier_secret_until is null))
  )`,
  `create index webhook_endpoint_of_account on webhook_endpoint (account_id, number) where deleted_at is null`,
  `create index webhook_endpoint_behind on webhook_endpoint (number) where is_behind`,
  `create index webhook_endpoint_due on webhook_endpoint (due_at) where due_at is not null`,
  `create index webhook_endpoint_failing on webhook_endpoint (failing_since) where failing_since is not null`,
  `create index webhook_endpoint_deleted on webhook_endpoint (deleted_at) where deleted_at is not null`,
  `create table webhook_cursor (
    only_row boolean primary key default true check (only_row),
    counter_revision bigint not null
  )`,
  `create table webhook_delivery (
    endpoint_number integer not null references webhook_endpoint (number),
    number bigint generated always as identity,
    event_position bigint,
    sequence bigint not null,
    intent_number bigint,
    is_replay boolean not null,
    test_event json,
    status text not null check (status in ('pending','succeeded','failed')),
    tries integer not null,
    tries_before integer not null default 0,
    due_at timestamptz,
    created_at timestamptz not null,
    closed_at timestamptz,
    primary key (endpoint_number, number),
    check ((status = 'pending') = (closed_at is null)),
    check (status = 'pending' or due_at is null),
    check ((test_event is null) = (event_position is not null))
  )`,
  `create unique index webhook_delivery_of_event on webhook_delivery (endpoint_number, event_position) where not is_replay`,
  `create index webhook_delivery_due on webhook_delivery (endpoint_number, due_at, number) where due_at is not null`,
  `create index webhook_delivery_lane on webhook_delivery (endpoint_number, intent_number, is_replay, sequence, number)
    where status = 'pending'`,
  `create index webhook_delivery_open on webhook_delivery (endpoint_number, sequence) where status = 'pending'`,
  `create index webhook_delivery_closed on webhook_delivery (closed_at) where closed_at is not null`,
  `create table webhook_attempt (
    endpoint_number integer not null,
    delivery_number bigint not null,
    attempt integer not null,
    at timestamptz not null,
    url text not null,
    status_code integer,
    error text,
    connected_ms integer,
    first_byte_ms integer,
    total_ms integer not null,
    answer bytea check (octet_length(answer) <= 2048),
    primary key (endpoint_number, delivery_number, attempt),
    foreign key (endpoint_number, delivery_number) references webhook_delivery (endpoint_number, number) on delete cascade
  )`,
  `create table account_notification (
    account_id text primary key references account (id),
    url text not null,
    secret bytea not null,
    changed_at timestamptz not null
  )`,
  `create table account_notice (
    number bigint generated always as identity primary key,
    id text not null,
    account_id text not null references account (id),
    type text not null,
    webhook_endpoint_id text not null,
    message text not null,
    at timestamptz not null,
    tries integer not null,
    due_at timestamptz not null
  )`,
  `create index account_notice_due on account_notice (due_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
