import { sql, type Kysely } from "kysely";

const statements: readonly string[] = [
  // ── merchant: what processes hold of keys and accounts is good for one version ──
  `create table merchant_version (
    only_row boolean primary key default true check (only_row),
    version bigint not null
  )`,
  `insert into merchant_version (version) values (1)`,
  // By triggers and not by the code, so that a change made by hand counts as well. A new key or account is held by nobody yet.
  `create function merchant_changes() returns trigger language plpgsql as $body$
    begin
      update merchant_version set version = version + 1;
      return null;
    end $body$`,
  `create trigger api_key_changes
    after update of account_id, secret_hash, scopes, expires_at, revoked_at or delete on api_key
    for each statement execute function merchant_changes()`,
  `create trigger account_changes after update or delete on account for each statement execute function merchant_changes()`,
  `create table page_origin (
    account_id text not null references account (id),
    origin text not null,
    added_at timestamptz not null,
    primary key (account_id, origin)
  )`,

  // ── inbox: switches of origins, and inboxes that name their token where a chain has one address for each ──
  `create table origin_switch (
    chain text not null,
    token text not null,
    is_enabled boolean not null,
    changed_at timestamptz not null,
    primary key (chain, token)
  )`,
  // One address never serves two intents, whoever has issued it: a deposit there could belong to either.
  `create table inbox_address (
    namespace text not null,
    reference text not null,
    address text not null,
    intent_id text not null references intent (id),
    primary key (namespace, reference, address),
    unique (namespace, reference, address, intent_id)
  )`,
  `insert into inbox_address (namespace, reference, address, intent_id)
    select namespace, reference, address, intent_id from source_inbox`,
  `alter table source_inbox add column token text not null default ''`,
  `alter table source_inbox drop constraint source_inbox_pkey`,
  `alter table source_inbox add primary key (intent_id, namespace, reference, token)`,
  `alter table source_inbox add foreign key (namespace, reference, address, intent_id)
    references inbox_address (namespace, reference, address, intent_id)`,
  `create index intent_unbound on intent (seq) where customer_bound_at is null and status = 'active'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
