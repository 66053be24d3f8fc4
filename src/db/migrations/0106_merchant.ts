import { sql, type Kysely } from "kysely";

// Accounts, their keys, and how their checkout looks.

const statements: readonly string[] = [
  `create table account (
    id text not null,
    name text not null,
    environment text not null,
    status text default 'active' not null,
    payout_namespace text,
    payout_chain_reference text,
    payout_wallet text,
    currency text,
    fee_bps integer default 0 not null,
    underpay_tolerance_bps integer default 0 not null,
    recovery text,
    created_at timestamptz not null,
    origins text[],
    solana_recovery text,
    solana_default_reference text,
    solana_default_wallet text,
    number integer generated always as identity,
    evm_default_reference text,
    evm_default_wallet text,
    constraint account_pkey primary key (id),
    constraint account_number_key unique (number),
    constraint account_environment_check check (environment in ('test', 'live')),
    constraint account_evm_default check (num_nulls(evm_default_reference, evm_default_wallet) in (0, 2)),
    constraint account_fee_bps_check check ((fee_bps >= 0) and (fee_bps <= 1000)),
    constraint account_one_default_a_namespace check (((payout_namespace is distinct from 'eip155') or (evm_default_wallet is null)) and ((payout_namespace is distinct from 'solana') or (solana_default_wallet is null))),
    constraint account_payout_namespace_check check (payout_namespace in ('eip155', 'solana')),
    constraint account_solana_default check (num_nulls(solana_default_reference, solana_default_wallet) in (0, 2)),
    constraint account_status_check check (status in ('active', 'suspended')),
    constraint account_underpay_tolerance_bps_check check ((underpay_tolerance_bps >= 0) and (underpay_tolerance_bps <= 500))
  )`,
  `create table api_key (
    key_id text not null,
    account_id text not null,
    secret_hash bytea not null,
    scopes text[] not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    default_namespace text,
    constraint api_key_pkey primary key (key_id),
    constraint api_key_default_namespace_check check (default_namespace in ('eip155', 'solana')),
    constraint api_key_secret_hash_check check (length(secret_hash) = 32),
    constraint api_key_account_id_fkey foreign key (account_id) references account(id)
  )`,
  `create index api_key_of_account on api_key (account_id)`,
  `create unique index api_key_of_hash on api_key (secret_hash)`,
  // Increases with every change of keys or accounts.
  `create table merchant_version (
    only_row boolean default true not null,
    version bigint not null,
    constraint merchant_version_pkey primary key (only_row),
    constraint merchant_version_only_row_check check (only_row)
  )`,
  `insert into merchant_version (version) values (1)`,
  // Web pages that may embed an account's checkout.
  `create table page_origin (
    account_id text not null,
    origin text not null,
    added_at timestamptz not null,
    constraint page_origin_pkey primary key (account_id, origin),
    constraint page_origin_account_id_fkey foreign key (account_id) references account(id)
  )`,
  // How the checkout of an account looks, and whom its payers ask. Absent: the defaults.
  `create table account_brand (
    account_id text not null,
    accent text,
    accent_dark text,
    radius_px integer,
    font text,
    support text,
    logo bytea,
    logo_type text,
    changed_at timestamptz not null,
    constraint account_brand_pkey primary key (account_id),
    constraint account_brand_accent_check check (accent ~ '^#[0-9a-f]{6}$'),
    constraint account_brand_accent_dark_check check (accent_dark ~ '^#[0-9a-f]{6}$'),
    constraint account_brand_check check ((logo is null) = (logo_type is null)),
    constraint account_brand_logo_check check (octet_length(logo) <= 32768),
    constraint account_brand_logo_type_check check (logo_type in ('image/png', 'image/svg+xml')),
    constraint account_brand_radius_px_check check ((radius_px >= 0) and (radius_px <= 24)),
    constraint account_brand_account_id_fkey foreign key (account_id) references account(id)
  )`,
  `create function merchant_changes()
   returns trigger
   language plpgsql
  as $function$
      begin
        update merchant_version set version = version + 1;
        return null;
      end $function$`,
  `create trigger account_changes after delete or update on account for each statement execute function merchant_changes()`,
  `create trigger api_key_changes after delete or update of account_id, secret_hash, scopes, expires_at, revoked_at on api_key for each statement execute function merchant_changes()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
