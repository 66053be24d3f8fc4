import { sql, type Kysely } from "kysely";

// An event stores the values that it shows, and refers to its account and its intent by number. The rest of what it
// shows are columns that its intent pinned.

const PINS = [
  "id",
  "seq",
  "account_id",
  "livemode",
  "price_units",
  "price_token_units",
  "one_time",
  "merchant_reference",
  "metadata::text",
  "payout_namespace",
  "payout_chain_reference",
  "payout_wallet",
  "payout_token",
  "payout_decimals",
  "rail_id",
  "minimum_units",
  "fee_bps",
  "fee_recipient",
  "underpay_tolerance_bps",
  "recovery",
  "recover_after",
  "routes_root",
  "route_set",
  "inbox_salt",
  "inbox_hub",
  "inbox_implementation",
  "inbox_address",
  "return_url",
  "description",
  "rent_recipient",
  "created_at",
];
const pinsOf = (row: string) => PINS.map((column) => `${row}.${column}`).join(", ");

const statements: readonly string[] = [
  `create or replace function intent_pins_hold() returns trigger language plpgsql as $body$
    begin
      if (${pinsOf("new")}) is distinct from (${pinsOf("old")})
      then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $body$`,
  `alter table account add column number integer generated always as identity unique`,
  `create unique index intent_number on intent (seq)`,
  `drop table event`,
  `drop table event_counter`,
  `create table event (
    position bigint generated always as identity primary key,
    sequence bigint,
    intent_number bigint,
    created_at timestamptz not null,
    account_number integer not null,
    type smallint not null,
    format smallint not null,
    livemode boolean not null,
    id bytea not null unique check (octet_length(id) = 16),
    content json not null
  )`,
  `create index event_unstamped on event (position) where sequence is null`,
  // An event enters the index with its sequence, and not once before.
  `create unique index event_sequence on event (account_number, sequence) where sequence is not null`,
  `create table event_counter (
    account_number integer primary key,
    last_sequence bigint not null,
    revision bigint not null
  )`,
  `create index event_counter_revision on event_counter (revision)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
