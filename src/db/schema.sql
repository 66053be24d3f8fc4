-- The schema after all migrations, table by table: its columns, who writes them, and what refuses a wrong row.
-- Written by `npm run schema` from a migrated database, and compared with one by a test. It is not executed.

-- gas_account: written by src/chain/outgoing/outgoingStore.ts
create table gas_account (
  chain text not null,
  address text not null,
  next_nonce bigint not null,
  constraint gas_account_pkey primary key (chain, address),
  constraint gas_account_next_nonce_check check (next_nonce >= 0)
);

-- outgoing_transaction: written by src/chain/outgoing/outgoingStore.ts
create table outgoing_transaction (
  id bigint generated always as identity,
  chain text not null,
  sender text not null,
  nonce bigint,
  recipient text,
  data text,
  gas_limit bigint,
  status text not null,
  mined_chain_tx text,
  mined_block_number bigint,
  created_at timestamptz not null,
  closed_at timestamptz,
  purged_at timestamptz,
  constraint outgoing_transaction_pkey primary key (id),
  constraint outgoing_transaction_check check (num_nulls(nonce, recipient, data, gas_limit) in (0, 4)),
  constraint outgoing_transaction_closed_check check ((status = 'signed') = (closed_at is null)),
  constraint outgoing_transaction_gas_limit_check check (gas_limit > 0),
  constraint outgoing_transaction_mined_check check ((status in ('mined', 'reverted')) = ((mined_chain_tx is not null) and (mined_block_number is not null))),
  constraint outgoing_transaction_purged_is_closed check ((purged_at is null) or (closed_at is not null)),
  constraint outgoing_transaction_status_check check (status in ('signed', 'mined', 'reverted', 'lost'))
);
create index outgoing_transaction_open on outgoing_transaction (chain, nonce) where (status = 'signed');
create index outgoing_transaction_purge on outgoing_transaction (chain, closed_at) where ((closed_at is not null) and (purged_at is null));
create unique index outgoing_transaction_slot on outgoing_transaction (chain, sender, nonce) where (status <> 'lost');
create or replace function outgoing_purge_waits_for_settlements()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
      begin
        if exists (select from settlement where outgoing_id = new.id and status not in ('landed', 'failed')) then
          raise exception 'transaction % keeps its bytes until its settlements have ended', new.id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $function$;
create trigger outgoing_purge_waits_for_settlements before update of purged_at on outgoing_transaction for each row when ((new.purged_at is not null)) execute function outgoing_purge_waits_for_settlements();

-- outgoing_attempt: written by src/chain/outgoing/outgoingStore.ts
create table outgoing_attempt (
  outgoing_id bigint not null,
  attempt integer not null,
  chain_tx text not null,
  raw text not null,
  max_fee_per_gas numeric(78,0),
  max_priority_fee_per_gas numeric(78,0),
  created_at timestamptz not null,
  submitted_at timestamptz,
  last_valid_height bigint,
  constraint outgoing_attempt_pkey primary key (outgoing_id, attempt),
  constraint outgoing_attempt_chain_tx_key unique (chain_tx),
  constraint outgoing_attempt_attempt_check check (attempt >= 1),
  constraint outgoing_attempt_check check (num_nulls(max_fee_per_gas, max_priority_fee_per_gas) in (0, 2)),
  constraint outgoing_attempt_check1 check ((last_valid_height is null) or (max_fee_per_gas is null)),
  constraint outgoing_attempt_last_valid_height_check check (last_valid_height >= 0)
);
alter table outgoing_attempt add constraint outgoing_attempt_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id);
create or replace function outgoing_bytes_stay()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
      begin
        if exists (select from outgoing_transaction where id = old.outgoing_id and purged_at is null) then
          raise exception 'the bytes of transaction % stay until it is purged', old.outgoing_id using errcode = 'integrity_constraint_violation';
        end if;
        return old;
      end $function$;
create trigger outgoing_bytes_stay before delete on outgoing_attempt for each row execute function outgoing_bytes_stay();

-- event_expiry: written by src/event/store.ts
create table event_expiry (
  only_row boolean default true not null,
  expired_before timestamptz not null,
  constraint event_expiry_pkey primary key (only_row),
  constraint event_expiry_only_row_check check (only_row)
);

-- event: written by src/event/store.ts
create table event (
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
);
create unique index event_sequence on event (account_number, sequence) where (sequence is not null);
create index event_unstamped on event ("position") where (sequence is null);

-- event_counter: written by src/event/store.ts
create table event_counter (
  account_number integer not null,
  last_sequence bigint not null,
  revision bigint not null,
  constraint event_counter_pkey primary key (account_number)
);
create index event_counter_revision on event_counter (revision);

-- database_epoch: written by src/event/epoch/epochStore.ts
create table database_epoch (
  only_row boolean default true not null,
  epoch integer not null,
  counter bigint not null,
  system_identifier text,
  timeline_id integer,
  began_at timestamptz,
  reason text,
  feeds_restored_to integer,
  constraint database_epoch_pkey primary key (only_row),
  constraint database_epoch_began_check check (((epoch = 0) = (began_at is null)) and ((epoch = 0) = (reason is null))),
  constraint database_epoch_only_row_check check (only_row),
  constraint database_epoch_reason_check check (reason in ('counter', 'server', 'timeline', 'marked'))
);

-- idempotent_answer: written by src/idempotency/store.ts
create table idempotent_answer (
  account_id text not null,
  operation text not null,
  key text not null,
  body_hash bytea not null,
  status integer not null,
  body json not null,
  expires_at timestamptz not null,
  constraint idempotent_answer_pkey primary key (account_id, operation, key),
  constraint idempotent_answer_body_hash_check check (length(body_hash) = 32),
  constraint idempotent_answer_key_check check ((length(key) >= 1) and (length(key) <= 255)),
  constraint idempotent_answer_status_check check ((status >= 200) and (status <= 299))
);
create index idempotent_answer_expiry on idempotent_answer (expires_at);

-- ledger_posting: written by src/ledger/store.ts
create table ledger_posting (
  id bigint generated always as identity,
  reference text not null,
  version bigint not null,
  reverses bigint,
  custody text not null,
  chain text not null,
  chain_tx text not null,
  block_number bigint not null,
  entry_count integer not null,
  booked_at timestamptz not null,
  constraint ledger_posting_pkey primary key (id),
  constraint ledger_posting_reference_version_key unique (reference, version),
  constraint ledger_posting_reverses_key unique (reverses),
  constraint ledger_posting_check check ((reverses is null) or ((reference = ('reversal:' || reverses)) and (version = 1))),
  constraint ledger_posting_custody_check check (custody ~~ 'inbox:_%'),
  constraint ledger_posting_entry_count_check check (entry_count >= 2)
);
alter table ledger_posting add constraint ledger_posting_reverses_fkey foreign key (reverses) references ledger_posting(id);
create index ledger_posting_by_time on ledger_posting using brin (booked_at);
create or replace function ledger_is_append_only()
 returns trigger
 language plpgsql
as $function$
      begin
        raise exception 'the ledger is only ever added to: % on % is refused', lower(tg_op), tg_table_name using errcode = 'integrity_constraint_violation';
      end $function$;
create or replace function ledger_postings_are_sound()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
      declare wrong bigint;
      begin
        select id into wrong from fresh
          where (select count(*) from ledger_entry entry where entry.posting_id = fresh.id and entry.place = 1) = 0 limit 1;
        if wrong is not null then
          raise exception 'posting % has no entries: they come in the same statement', wrong using errcode = 'integrity_constraint_violation';
        end if;
        select id into wrong from fresh
          where reverses is null and (
            select count(*) from ledger_posting other
            where other.reference = fresh.reference and other.version <> fresh.version
              and (select count(*) from ledger_posting reversal where reversal.reverses = other.id) = 0) > 0 limit 1;
        if wrong is not null then
          raise exception 'posting % books again what stands in the ledger: the earlier posting is to be reversed first', wrong using errcode = 'integrity_constraint_violation';
        end if;
        select id into wrong from fresh
          where reverses is not null and (
            select count(*) from ledger_posting origin
            join ledger_entry given on given.posting_id = origin.id and given.place = 1
            join ledger_entry taken on taken.posting_id = fresh.id and taken.place = 1
            where origin.id = fresh.reverses and origin.reverses is null
              and (origin.custody, origin.chain, given.account, given.asset, given.amount_units)
                = (fresh.custody, fresh.chain, taken.account, taken.asset, -taken.amount_units)) = 0 limit 1;
        if wrong is not null then
          raise exception 'posting % is not the reversal of what it refers to', wrong using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$;
create trigger ledger_posting_is_append_only before delete or update or truncate on ledger_posting for each statement execute function ledger_is_append_only();
create trigger ledger_postings_are_sound after insert on ledger_posting referencing new table as fresh for each statement execute function ledger_postings_are_sound();

-- ledger_entry: written by src/ledger/store.ts
create table ledger_entry (
  posting_id bigint not null,
  place integer not null,
  account text not null,
  asset text not null,
  amount_units numeric(78,0) not null,
  constraint ledger_entry_pkey primary key (posting_id, place),
  constraint ledger_entry_account_check check ((account in ('payer:world', 'payout:world', 'fee:platform', 'fee:bridge', 'loss:reorg')) or (account ~~ 'inbox:_%') or (account ~~ 'bridge:_%') or (account ~~ 'hub:_%') or (account ~~ 'suspense:_%') or (account ~~ 'unseen:_%')),
  constraint ledger_entry_amount_units_check check (amount_units <> 0),
  constraint ledger_entry_asset_check check (asset ~~ '_%:_%/_%:_%'),
  constraint ledger_entry_place_check check (place >= 1)
);
create index ledger_entry_in_order on ledger_entry (account, posting_id);
create or replace function ledger_entries_are_whole()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
      declare wrong bigint;
      begin
        select posting_id into wrong from (
          select posting_id, sum(lines) as lines, max(place) as place, bool_or(units <> 0) as is_uneven from (
            select posting_id, asset, count(*) as lines, max(place) as place, sum(amount_units) as units
            from fresh group by posting_id, asset) as of_asset
          group by posting_id) as sums
        where is_uneven or place > lines
          or lines is distinct from (select entry_count from ledger_posting where id = posting_id) limit 1;
        if wrong is not null then
          raise exception 'the entries of posting % are not whole: they come together, as many as it says, and add up to nothing', wrong using errcode = 'integrity_constraint_violation';
        end if;
        select posting_id into wrong from fresh
          where account like 'inbox:%' and account <> (select custody from ledger_posting where id = posting_id) limit 1;
        if wrong is not null then
          raise exception 'posting % touches an inbox that is not its own', wrong using errcode = 'integrity_constraint_violation';
        end if;
        merge into ledger_balance balance using (
          select case when account like 'inbox:%' or account like 'bridge:%' then account
              else (select custody from ledger_posting where id = posting_id) end as holder,
            asset, account, sum(amount_units) as units
          from fresh
          where account like 'inbox:%' or account like 'bridge:%' or account like 'unseen:%' or account = 'loss:reorg'
          group by 1, 2, 3 having sum(amount_units) <> 0) as change
        on (balance.holder, balance.asset, balance.account) = (change.holder, change.asset, change.account)
        when matched then update set balance_units = balance.balance_units + change.units
        when not matched then insert (holder, asset, account, balance_units)
          values (change.holder, change.asset, change.account, change.units);
        return null;
      end $function$;
create trigger ledger_entries_are_whole after insert on ledger_entry referencing new table as fresh for each statement execute function ledger_entries_are_whole();
create trigger ledger_entry_is_append_only before delete or update or truncate on ledger_entry for each statement execute function ledger_is_append_only();

-- ledger_balance: written by triggers
create table ledger_balance (
  holder text not null,
  asset text not null,
  account text not null,
  balance_units numeric(78,0) not null,
  constraint ledger_balance_pkey primary key (holder, asset, account),
  constraint ledger_balance_custody check ((balance_units >= 0) or (account !~~ 'inbox:%')),
  constraint ledger_balance_missing check ((balance_units <= 0) or (not ((account ~~ 'unseen:%') or (account = 'loss:reorg'))))
);
create or replace function ledger_balance_is_drawn()
 returns trigger
 language plpgsql
as $function$
      begin
        if pg_trigger_depth() < 2 then
          raise exception 'a balance is drawn from entries: % on % is refused', lower(tg_op), tg_table_name using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$;
create trigger ledger_balance_is_drawn before insert or delete or update or truncate on ledger_balance for each statement execute function ledger_balance_is_drawn();

-- served_token: written by src/catalog/store.ts
create table served_token (
  chain text not null,
  token text not null,
  symbol text not null,
  since timestamptz not null,
  unused_intent bigint,
  unused_movement bigint,
  constraint served_token_pkey primary key (chain, token),
  constraint served_token_unused check ((unused_intent is null) = (unused_movement is null))
);

-- account: written by src/merchant/store.ts
create table account (
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
  limit_multiple integer default 1 not null,
  constraint account_pkey primary key (id),
  constraint account_number_key unique (number),
  constraint account_environment_check check (environment in ('test', 'live')),
  constraint account_evm_default check (num_nulls(evm_default_reference, evm_default_wallet) in (0, 2)),
  constraint account_fee_bps_check check ((fee_bps >= 0) and (fee_bps <= 1000)),
  constraint account_limit_multiple_check check ((limit_multiple >= 1) and (limit_multiple <= 50)),
  constraint account_one_default_a_namespace check (((payout_namespace is distinct from 'eip155') or (evm_default_wallet is null)) and ((payout_namespace is distinct from 'solana') or (solana_default_wallet is null))),
  constraint account_payout_namespace_check check (payout_namespace in ('eip155', 'solana')),
  constraint account_solana_default check (num_nulls(solana_default_reference, solana_default_wallet) in (0, 2)),
  constraint account_status_check check (status in ('active', 'suspended')),
  constraint account_underpay_tolerance_bps_check check ((underpay_tolerance_bps >= 0) and (underpay_tolerance_bps <= 500))
);
create or replace function merchant_changes()
 returns trigger
 language plpgsql
as $function$
      begin
        update merchant_version set version = version + 1;
        return null;
      end $function$;
create trigger account_changes after delete or update on account for each statement execute function merchant_changes();

-- api_key: written by src/merchant/store.ts
create table api_key (
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
  constraint api_key_secret_hash_check check (length(secret_hash) = 32)
);
alter table api_key add constraint api_key_account_id_fkey foreign key (account_id) references account(id);
create index api_key_expires on api_key (expires_at) where ((expires_at is not null) and (revoked_at is null));
create index api_key_of_account on api_key (account_id);
create unique index api_key_of_hash on api_key (secret_hash);
create trigger api_key_changes after delete or update of account_id, secret_hash, scopes, expires_at, revoked_at on api_key for each statement execute function merchant_changes();

-- merchant_version: written by triggers
create table merchant_version (
  only_row boolean default true not null,
  version bigint not null,
  constraint merchant_version_pkey primary key (only_row),
  constraint merchant_version_only_row_check check (only_row)
);

-- page_origin: written by src/merchant/store.ts
create table page_origin (
  account_id text not null,
  origin text not null,
  added_at timestamptz not null,
  constraint page_origin_pkey primary key (account_id, origin)
);
alter table page_origin add constraint page_origin_account_id_fkey foreign key (account_id) references account(id);

-- account_brand: written by src/merchant/brand/brandStore.ts
create table account_brand (
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
  constraint account_brand_radius_px_check check ((radius_px >= 0) and (radius_px <= 24))
);
alter table account_brand add constraint account_brand_account_id_fkey foreign key (account_id) references account(id);

-- deployment: written by src/intent/store.ts
create table deployment (
  only_row boolean default true not null,
  deployment_id bytea not null,
  signing_secret bytea not null,
  constraint deployment_pkey primary key (only_row),
  constraint deployment_deployment_id_check check (length(deployment_id) = 32),
  constraint deployment_only_row_check check (only_row),
  constraint deployment_signing_secret_check check (length(signing_secret) = 32)
);

-- intent: written by src/intent/store.ts
create table intent (
  id text not null,
  seq bigint generated always as identity,
  account_id text not null,
  livemode boolean not null,
  status text not null,
  occupies boolean not null,
  price_units bigint,
  price_token_units numeric(78,0),
  one_time boolean not null,
  merchant_reference text,
  metadata json,
  payout_namespace text not null,
  payout_chain_reference text not null,
  payout_wallet text not null,
  payout_token text not null,
  payout_decimals integer not null,
  rail_id text not null,
  minimum_units numeric(78,0) not null,
  fee_bps integer not null,
  fee_recipient text not null,
  underpay_tolerance_bps integer not null,
  recovery text not null,
  recover_after bigint not null,
  routes_root text not null,
  inbox_salt text not null,
  inbox_hub text not null,
  inbox_implementation text not null,
  inbox_address text not null,
  widget_token_hash bytea not null,
  customer_bound_at timestamptz,
  received_units numeric(78,0) default 0 not null,
  counted_units numeric(78,0) default 0 not null,
  settled_units numeric(78,0) default 0 not null,
  fee_units numeric(78,0) default 0 not null,
  net_units numeric(78,0) default 0 not null,
  pending_count integer default 0 not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  settled_at timestamptz,
  archived_at timestamptz,
  return_url text,
  description text,
  route_set text,
  hop_recovery text,
  rent_recipient text,
  agreement_units numeric(78,0) default 0 not null,
  late_units numeric(78,0) default 0 not null,
  hop_hub text,
  constraint intent_pkey primary key (id),
  constraint intent_widget_token_hash_key unique (widget_token_hash),
  constraint intent_arrived check ((agreement_units >= 0) and (late_units >= 0)),
  constraint intent_check check ((not one_time) or (price_units is not null)),
  constraint intent_check1 check ((price_units is null) = (price_token_units is null)),
  constraint intent_check2 check ((status <> 'settled') or (one_time and (settled_at is not null))),
  constraint intent_check3 check ((status <> 'archived') or (archived_at is not null)),
  constraint intent_check4 check (settled_units >= (fee_units + net_units)),
  constraint intent_counted_units_check check (counted_units >= 0),
  constraint intent_fee_bps_check check ((fee_bps >= 0) and (fee_bps <= 1000)),
  constraint intent_fee_units_check check (fee_units >= 0),
  constraint intent_hop_hub check ((hop_hub is not null) = ((payout_namespace <> 'eip155') and (hop_recovery is not null))),
  constraint intent_hops_have_set check ((hop_recovery is null) or (route_set is not null)),
  constraint intent_minimum_units_check check (minimum_units >= 0),
  constraint intent_net_units_check check (net_units >= 0),
  constraint intent_payout_decimals_check check ((payout_decimals >= 0) and (payout_decimals <= 36)),
  constraint intent_payout_namespace_check check (payout_namespace in ('eip155', 'solana')),
  constraint intent_pending_count_check check (pending_count >= 0),
  constraint intent_price_token_units_check check (price_token_units > 0),
  constraint intent_price_units_check check ((price_units >= 1) and (price_units <= 9007199254740991)),
  constraint intent_received_units_check check (received_units >= 0),
  constraint intent_rent_recipient_of_solana check ((rent_recipient is null) or (payout_namespace = 'solana')),
  constraint intent_route_set_or_empty_root check ((route_set is not null) or (routes_root = '0x0000000000000000000000000000000000000000000000000000000000000000')),
  constraint intent_settled_units_check check (settled_units >= 0),
  constraint intent_status_check check (status in ('active', 'settled', 'archived')),
  constraint intent_underpay_tolerance_bps_check check ((underpay_tolerance_bps >= 0) and (underpay_tolerance_bps <= 500)),
  constraint intent_widget_token_hash_check check (length(widget_token_hash) = 32)
);
alter table intent add constraint intent_account_id_fkey foreign key (account_id) references account(id);
create index intent_by_status on intent (account_id, status, (
case
    when (counted_units = 0) then 'unpaid'
    when (price_token_units is null) then 'paid'
    when ((counted_units * 10000) < (price_token_units * ((10000 - underpay_tolerance_bps))::numeric)) then 'partial'
    when (one_time and (counted_units > price_token_units)) then 'overpaid'
    else 'paid'
end), seq desc);
create index intent_by_time on intent (account_id, created_at, seq);
create unique index intent_number on intent (seq);
create unique index intent_occupied_destination on intent (account_id, payout_namespace, payout_chain_reference, payout_wallet, payout_token) where ((status = 'active') and occupies);
create unique index intent_of_account on intent (account_id, id collate "C");
create index intent_page on intent (account_id, seq desc);
create index intent_reference on intent (account_id, merchant_reference, seq desc) where (merchant_reference is not null);
create index intent_unbound on intent (seq) where ((customer_bound_at is null) and (status = 'active'));
create or replace function intent_has_its_route_set()
 returns trigger
 language plpgsql
as $function$
      begin
        if not exists (select from route_set where id = new.route_set and (root = new.routes_root or new.payout_namespace <> 'eip155')) then
          raise exception 'intent % has no stored route set with the root that it pins', new.id using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$;
create or replace function intent_pins_hold()
 returns trigger
 language plpgsql
as $function$
      begin
        if (new.id, new.seq, new.account_id, new.livemode, new.price_units, new.price_token_units, new.one_time, new.merchant_reference, new.metadata::text, new.payout_namespace, new.payout_chain_reference, new.payout_wallet, new.payout_token, new.payout_decimals, new.rail_id, new.minimum_units, new.fee_bps, new.fee_recipient, new.underpay_tolerance_bps, new.recovery, new.recover_after, new.routes_root, new.route_set, new.hop_recovery, new.hop_hub, new.inbox_salt, new.inbox_hub, new.inbox_implementation, new.inbox_address, new.return_url, new.description, new.rent_recipient, new.created_at) is distinct from (old.id, old.seq, old.account_id, old.livemode, old.price_units, old.price_token_units, old.one_time, old.merchant_reference, old.metadata::text, old.payout_namespace, old.payout_chain_reference, old.payout_wallet, old.payout_token, old.payout_decimals, old.rail_id, old.minimum_units, old.fee_bps, old.fee_recipient, old.underpay_tolerance_bps, old.recovery, old.recover_after, old.routes_root, old.route_set, old.hop_recovery, old.hop_hub, old.inbox_salt, old.inbox_hub, old.inbox_implementation, old.inbox_address, old.return_url, old.description, old.rent_recipient, old.created_at)
        then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $function$;
create or replace function intents_stay()
 returns trigger
 language plpgsql
as $function$
      begin
        raise exception 'an intent stays, since money may come into its inbox at any time' using errcode = 'integrity_constraint_violation';
      end $function$;
create trigger intent_has_its_route_set after insert on intent for each row when ((new.route_set is not null)) execute function intent_has_its_route_set();
create trigger intent_pins_hold before update on intent for each row execute function intent_pins_hold();
create trigger intents_stay before delete on intent for each statement execute function intents_stay();

-- inbox: written by src/intent/inboxStore.ts
create table inbox (
  seq bigint generated always as identity,
  namespace text not null,
  reference text not null,
  address text not null,
  intent_id text not null,
  kind text not null,
  token text default '' not null,
  created_at timestamptz not null,
  constraint inbox_pkey primary key (seq),
  constraint inbox_address_once unique (address, namespace, reference),
  constraint inbox_of_intent unique (intent_id, namespace, reference, token),
  constraint inbox_check check ((namespace = 'eip155') = (reference = '')),
  constraint inbox_check1 check ((namespace <> 'eip155') or ((token = '') and (address ~ '^0x[0-9a-f]{40}$'))),
  constraint inbox_kind_check check (kind in ('deposit', 'source')),
  constraint inbox_namespace_check check (namespace in ('eip155', 'solana'))
);
alter table inbox add constraint inbox_intent_id_fkey foreign key (intent_id) references intent(id);
create or replace function inboxes_stay()
 returns trigger
 language plpgsql
as $function$
      begin
        raise exception 'an inbox stays as it is: % is refused', lower(tg_op) using errcode = 'integrity_constraint_violation';
      end $function$;
create trigger inboxes_stay before delete or update or truncate on inbox for each statement execute function inboxes_stay();

-- checkout_handoff: written by src/intent/checkout/handoffStore.ts
create table checkout_handoff (
  code_hash bytea not null,
  intent_id text not null,
  expires_at timestamptz not null,
  constraint checkout_handoff_pkey primary key (code_hash)
);
alter table checkout_handoff add constraint checkout_handoff_intent_id_fkey foreign key (intent_id) references intent(id);
create index checkout_handoff_expiry on checkout_handoff (expires_at);

-- route_set: written by src/intent/routes/routeSetStore.ts
create table route_set (
  id text not null,
  root text not null,
  routes json not null,
  origins json not null,
  hops json not null,
  created_at timestamptz not null,
  constraint route_set_pkey primary key (id),
  constraint route_set_content_check check ((json_array_length(hops) > 0) or (root <> '0x0000000000000000000000000000000000000000000000000000000000000000')),
  constraint route_set_id_check check (id ~ '^0x[0-9a-f]{64}$'),
  constraint route_set_root_check check (root ~ '^0x[0-9a-f]{64}$')
);
create or replace function route_sets_stay()
 returns trigger
 language plpgsql
as $function$
      begin
        raise exception 'a route set stays as it is, since inbox addresses commit to it' using errcode = 'integrity_constraint_violation';
      end $function$;
create trigger route_sets_stay before delete or update on route_set for each statement execute function route_sets_stay();

-- primed_account: written by src/priming/store.ts
create table primed_account (
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
  constraint primed_account_status_check check (status in ('planned', 'submitted', 'open', 'closing', 'closed'))
);
alter table primed_account add constraint primed_account_account_id_fkey foreign key (account_id) references account(id);
alter table primed_account add constraint primed_account_intent_id_fkey foreign key (intent_id) references intent(id);
alter table primed_account add constraint primed_account_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id);
create unique index primed_account_open on primed_account (chain, intent_id, token) where (status <> 'closed');
create index primed_account_purge on primed_account (closed_at) where (closed_at is not null);
create index primed_account_recent on primed_account (account_id, chain, created_at);

-- source_inbox: written by src/inbox/store.ts
create table source_inbox (
  intent_id text not null,
  namespace text not null,
  reference text not null,
  address text not null,
  issued_at timestamptz not null,
  token text default '' not null,
  constraint source_inbox_pkey primary key (intent_id, namespace, reference, token)
);
alter table source_inbox add constraint source_inbox_intent_id_fkey foreign key (intent_id) references intent(id);
create index source_inbox_on_chain on source_inbox ((((namespace || ':') || reference)), token);
create or replace function source_inboxes_are_inboxes()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
      begin
        if (
    select inbox.intent_id from inbox
    where inbox.address = new.address and inbox.namespace = new.namespace and inbox.reference in ('', new.reference)) is distinct from new.intent_id then
          raise exception 'the source inbox % is no inbox of intent %', new.address, new.intent_id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $function$;
create trigger source_inboxes_are_inboxes before insert or update on source_inbox for each row execute function source_inboxes_are_inboxes();

-- origin_switch: written by src/inbox/store.ts
create table origin_switch (
  chain text not null,
  token text not null,
  is_enabled boolean not null,
  changed_at timestamptz not null,
  constraint origin_switch_pkey primary key (chain, token)
);

-- view_hint: written by src/view/store.ts
create table view_hint (
  intent_id text not null,
  namespace text not null,
  reference text not null,
  token text not null,
  expires_at timestamptz not null,
  constraint view_hint_pkey primary key (intent_id, namespace, reference, token)
);
alter table view_hint add constraint view_hint_intent_id_fkey foreign key (intent_id) references intent(id);
create index view_hint_expiry on view_hint (expires_at);

-- chain_cursor: written by src/watch/store/store.ts
create table chain_cursor (
  chain text not null,
  genesis_hash text,
  number bigint not null,
  hash text not null,
  safe_number bigint default '-1'::integer not null,
  finalized_number bigint default '-1'::integer not null,
  reread_number bigint not null,
  revision bigint default 0 not null,
  updated_at timestamptz not null,
  booked_number bigint default '-1'::integer not null,
  rewound_number bigint,
  pruned_number bigint default '-1'::integer not null,
  constraint chain_cursor_pkey primary key (chain)
);

-- block: written by src/watch/store/store.ts
create table block (
  chain text not null,
  hash text not null,
  number bigint not null,
  parent_hash text not null,
  orphaned_at timestamptz,
  timestamp_s bigint,
  constraint block_pkey primary key (chain, hash)
);
create index block_by_number on block (chain, number);
create index block_by_time on block (chain, timestamp_s, number) where (orphaned_at is null);
create unique index block_canonical on block (chain, number) where (orphaned_at is null);

-- movement: written by src/watch/store/store.ts
create table movement (
  id bigint generated always as identity,
  chain text not null,
  chain_tx text not null,
  identity text not null,
  direction text not null,
  intent_id text not null,
  inbox text not null,
  token text not null,
  counterparty text not null,
  amount_units numeric(78,0) not null,
  block_number bigint not null,
  block_hash text not null,
  place bigint not null,
  revision bigint not null,
  explained_by text,
  seen_at timestamptz not null,
  orphaned_at timestamptz,
  fee_units numeric(78,0),
  batch_place bigint,
  batch_fee_units numeric(78,0),
  bridge_fee_units numeric(78,0),
  in_suspense boolean default false not null,
  is_resized boolean default false not null,
  constraint movement_pkey primary key (id),
  constraint movement_chain_chain_tx_position_direction_inbox_token_key unique (chain, chain_tx, identity, direction, inbox, token),
  constraint movement_amount_units_check check (amount_units >= 0),
  constraint movement_bridge_fee_is_explained check (((bridge_fee_units is null) = (explained_by is null)) and ((bridge_fee_units is null) or (bridge_fee_units = 0) or ((direction = 'in') and (bridge_fee_units > 0)))),
  constraint movement_direction_check check (direction in ('in', 'out')),
  constraint movement_fee_is_of_batch check (((fee_units is null) = (batch_place is null)) and ((fee_units is null) = (batch_fee_units is null)) and ((fee_units is null) or ((direction = 'out') and ((fee_units >= 0) and (fee_units <= amount_units)) and (fee_units <= batch_fee_units)))),
  constraint movement_identity_check check (identity <> ''),
  constraint movement_place_check check (place >= 0)
);
create index movement_by_block on movement (((chain || '')), block_number);
create index movement_crossing on movement (intent_id, chain, token, block_number, place) where (explained_by is not null);
create index movement_handover on movement ((((chain || ' ') || direction)), revision, id);
create index movement_in_suspense on movement (intent_id, chain, token) where in_suspense;
create index movement_mint on movement (chain, explained_by) where ((explained_by is not null) and (direction = 'in'));
create index movement_of_inbox on movement (intent_id, chain, token, block_number, place);
create index movement_out_of_inbox on movement (intent_id, chain, token, block_number, place) where ((direction = 'out') and (orphaned_at is null));
create index movement_page on movement (((intent_id || '')), id desc) include (intent_id, chain, revision) where (direction = 'in');
create index movement_revision_of_intent on movement ((((intent_id || ' ') || chain)), revision, id) where (direction = 'in');
create or replace function movement_stays_of_its_inbox()
 returns trigger
 language plpgsql
as $function$
      begin
        raise exception 'movement % stays that of its inbox', old.id using errcode = 'integrity_constraint_violation';
      end $function$;
create or replace function movements_are_of_their_inbox()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
      declare wrong bigint;
      begin
        select id into wrong from fresh
          where (
    select inbox.intent_id from inbox
    where inbox.address = fresh.inbox and inbox.namespace = split_part(fresh.chain, ':', 1) and inbox.reference in ('', split_part(fresh.chain, ':', 2)))
            is distinct from fresh.intent_id limit 1;
        if wrong is not null then
          raise exception 'movement % is not of an inbox of its intent', wrong using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$;
create trigger movement_stays_of_its_inbox before update of intent_id, inbox on movement for each row execute function movement_stays_of_its_inbox();
create trigger movements_are_of_their_inbox after insert on movement referencing new table as fresh for each statement execute function movements_are_of_their_inbox();

-- settlement_cursor: written by src/handover/cursorStore.ts
create table settlement_cursor (
  chain text not null,
  revision bigint not null,
  movement_id bigint not null,
  constraint settlement_cursor_pkey primary key (chain)
);

-- deposit_cursor: written by src/handover/cursorStore.ts
create table deposit_cursor (
  chain text not null,
  revision bigint not null,
  movement_id bigint not null,
  constraint deposit_cursor_pkey primary key (chain)
);

-- quarantine: written by src/handover/quarantineStore.ts
create table quarantine (
  station text not null,
  chain text not null,
  intent_id text not null,
  revision bigint not null,
  movement_id bigint not null,
  reason text not null,
  attempts integer not null,
  since timestamptz not null,
  retry_at timestamptz not null,
  constraint quarantine_pkey primary key (station, chain, intent_id),
  constraint quarantine_attempts_check check (attempts > 0),
  constraint quarantine_station_check check (station in ('deposit', 'settlement'))
);
create index quarantine_due on quarantine (station, chain, retry_at);

-- balance_pass: written by src/watch/reconcile/balanceStore.ts
create table balance_pass (
  chain text not null,
  scope text not null,
  started_at timestamptz not null,
  "position" text,
  compared_count bigint default 0 not null,
  next_at timestamptz not null,
  completed_at timestamptz,
  completed_count bigint,
  constraint balance_pass_pkey primary key (chain, scope),
  constraint balance_pass_scope_check check (scope in ('created', 'moved', 'viewed', 'all', 'settled', 'other_tokens'))
);

-- balance_difference: written by src/watch/reconcile/balanceStore.ts
create table balance_difference (
  chain text not null,
  inbox text not null,
  token text not null,
  intent_id text not null,
  block_number bigint not null,
  ledger_units numeric(78,0) not null,
  chain_units numeric(78,0) not null,
  searched_number bigint not null,
  lowest_number bigint,
  next_at timestamptz not null,
  found_at timestamptz not null,
  constraint balance_difference_pkey primary key (chain, inbox, token),
  constraint balance_difference_check check (ledger_units <> chain_units)
);
alter table balance_difference add constraint balance_difference_intent_id_fkey foreign key (intent_id) references intent(id);

-- awaited_burn: written by src/watch/store/unmatchedMintStore.ts
create table awaited_burn (
  mint_id bigint not null,
  bridge text not null,
  searched_number bigint,
  lowest_number bigint,
  attempts integer default 0 not null,
  next_at timestamptz not null,
  unexplained_since timestamptz not null,
  settle_chain text not null,
  suspended_at timestamptz,
  constraint awaited_burn_pkey primary key (mint_id)
);
alter table awaited_burn add constraint awaited_burn_mint_id_fkey foreign key (mint_id) references movement(id);
create index awaited_burn_due on awaited_burn (bridge, next_at);
create index awaited_burn_suspended on awaited_burn (settle_chain, suspended_at) where (suspended_at is not null);
create index awaited_burn_unexplained on awaited_burn (settle_chain, unexplained_since) where (suspended_at is null);

-- unreadable: written by src/watch/unreadable/unreadableStore.ts
create table unreadable (
  chain text not null,
  subject text not null,
  kind text not null,
  chain_tx text,
  block_number bigint,
  place bigint,
  inboxes text[] not null,
  names_program boolean not null,
  reason text not null,
  providers text not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  tries integer default 0 not null,
  retry_at timestamptz not null,
  constraint unreadable_pkey primary key (chain, subject),
  constraint unreadable_check check (names_program or (inboxes <> '{}'::text[])),
  constraint unreadable_kind_check check (kind in ('transaction', 'log', 'account')),
  constraint unreadable_tries_check check (tries >= 0)
);
create index unreadable_due on unreadable (chain, retry_at);
create index unreadable_inboxes on unreadable using gin (inboxes);

-- unreadable_overflow: written by src/watch/unreadable/unreadableStore.ts
create table unreadable_overflow (
  chain text not null,
  left_out bigint not null,
  last_seen_at timestamptz not null,
  constraint unreadable_overflow_pkey primary key (chain),
  constraint unreadable_overflow_left_out_check check (left_out > 0)
);

-- deposit: written by src/deposit/store.ts
create table deposit (
  id text not null,
  seq bigint generated always as identity,
  movement_id bigint not null,
  intent_id text not null,
  chain text not null,
  token text not null,
  token_decimals integer not null,
  sender text not null,
  amount_units numeric(78,0) not null,
  counted_units numeric(78,0) default 0 not null,
  status text not null,
  reason text,
  late boolean default false not null,
  chain_tx text not null,
  identity text not null,
  block_number bigint not null,
  block_hash text not null,
  required_confirmations integer,
  settlement_id text,
  seen_at timestamptz not null,
  confirmed_at timestamptz,
  counted_at timestamptz,
  updated_at timestamptz not null,
  agreed_at timestamptz,
  required_seconds integer,
  counted_final_block bigint,
  counted_next_block bigint,
  counted_limit_units numeric(78,0),
  counted_elsewhere text,
  account_id text,
  constraint deposit_pkey primary key (id),
  constraint deposit_movement_id_key unique (movement_id),
  constraint deposit_of_transfer unique (chain, chain_tx, identity, intent_id, token),
  constraint deposit_amount_units_check check (amount_units >= 0),
  constraint deposit_check check ((status = 'counted') = (counted_at is not null)),
  constraint deposit_check1 check ((status = 'counted') or (counted_units = 0)),
  constraint deposit_check2 check ((status <> all (array['held', 'dropped'])) or (reason is not null)),
  constraint deposit_counted_elsewhere check ((counted_elsewhere is null) or (counted_limit_units is not null)),
  constraint deposit_counted_limit check ((counted_limit_units is null) = (counted_next_block is null)),
  constraint deposit_counted_units_check check (counted_units >= 0),
  constraint deposit_status_check check (status in ('seen', 'confirmed', 'counted', 'held', 'dropped'))
);
alter table deposit add constraint deposit_intent_id_fkey foreign key (intent_id) references intent(id);
alter table deposit add constraint deposit_movement_id_fkey foreign key (movement_id) references movement(id);
alter table deposit add constraint deposit_settlement_id_fkey foreign key (settlement_id) references settlement(id);
create index deposit_counted on deposit (counted_at, id) where (counted_at is not null);
create index deposit_held on deposit (chain, reason) where (status = 'held');
create index deposit_of_intent on deposit (intent_id, seq);
create index deposit_of_payer on deposit (sender, account_id, seq desc);
create index deposit_of_settlement on deposit (settlement_id) where (settlement_id is not null);
create index deposit_pending on deposit (chain, block_number) where (status = 'seen');
create index deposit_recent on deposit (intent_id, chain, block_number);
create index deposit_sender on deposit (sender, seq desc);
create index deposit_unagreed on deposit (intent_id, chain) where ((status = 'counted') and (agreed_at is null));
create index deposit_undecided on deposit (intent_id, chain) where ((status in ('seen', 'confirmed')) or ((status = 'held') and (reason in ('provider_disagreement', 'provider_agreement_pending'))));
create index deposit_unswept on deposit (intent_id, chain, token) where ((status = 'counted') and (settlement_id is null));

-- deposit_agreement: written by src/deposit/agreement/verificationStore.ts
create table deposit_agreement (
  deposit_id text not null,
  chain text not null,
  block_hash text not null,
  state text not null,
  answers json not null,
  attempts integer default 0 not null,
  asked_at timestamptz not null,
  retry_at timestamptz,
  constraint deposit_agreement_pkey primary key (deposit_id),
  constraint deposit_agreement_attempts_check check (attempts >= 0),
  constraint deposit_agreement_check check ((state = 'asking') = (retry_at is not null)),
  constraint deposit_agreement_state_check check (state in ('asking', 'agreed'))
);
alter table deposit_agreement add constraint deposit_agreement_deposit_id_fkey foreign key (deposit_id) references deposit(id);
create index deposit_agreement_agreed on deposit_agreement (asked_at) where (state = 'agreed');
create index deposit_agreement_due on deposit_agreement (chain, retry_at) where (state = 'asking');

-- holding: written by src/deposit/holding/holdingStore.ts
create table holding (
  intent_id text not null,
  chain text not null,
  token text not null,
  dust_from bigint,
  is_stale boolean default false not null,
  dust_block bigint default '-1'::integer not null,
  waiting_count bigint default 0 not null,
  waiting_units numeric(78,0) default 0 not null,
  waiting_held_units numeric(78,0) default 0 not null,
  counted_block bigint default '-1'::integer not null,
  dust_count bigint default 0 not null,
  dust_units numeric(78,0) default 0 not null,
  dust_held_units numeric(78,0) default 0 not null,
  dust_counted_at timestamptz,
  verified_block bigint default '-1'::integer not null,
  verify_from timestamptz,
  unswept_units numeric(78,0) default 0 not null,
  unswept_since timestamptz,
  due_from timestamptz,
  rest_block bigint,
  rest_place bigint,
  rest_since timestamptz,
  rest_units numeric(78,0) default 0 not null,
  rest_counted_units numeric(78,0) default 0 not null,
  suspense_units numeric(78,0) default 0 not null,
  late_count bigint default 0 not null,
  late_units numeric(78,0) default 0 not null,
  late_held_units numeric(78,0) default 0 not null,
  constraint holding_pkey primary key (intent_id, chain, token),
  constraint holding_check check ((waiting_held_units >= 0) and (waiting_held_units <= waiting_units)),
  constraint holding_check1 check ((dust_held_units >= 0) and (dust_held_units <= dust_units)),
  constraint holding_check2 check (counted_block <= dust_block),
  constraint holding_check3 check ((unswept_units = 0) = (unswept_since is null)),
  constraint holding_check4 check ((due_from is null) or (unswept_units > 0)),
  constraint holding_dust_count_check check (dust_count >= 0),
  constraint holding_dust_units_check check (dust_units >= 0),
  constraint holding_late check ((late_count >= 0) and (late_count <= waiting_count) and (late_units >= 0) and (late_units <= waiting_units) and (late_held_units >= 0) and (late_held_units <= late_units) and (late_held_units <= waiting_held_units)),
  constraint holding_rest check ((rest_counted_units >= 0) and (rest_units >= 0) and ((rest_units = 0) or (rest_block is not null)) and (num_nulls(rest_block, rest_place, rest_since) in (0, 3))),
  constraint holding_unswept_units_check check (unswept_units >= 0),
  constraint holding_waiting_count_check check (waiting_count >= 0),
  constraint holding_waiting_units_check check (waiting_units >= 0)
);
alter table holding add constraint holding_intent_id_fkey foreign key (intent_id) references intent(id);
create index holding_due on holding (chain, due_from) where (due_from is not null);
create index holding_dust on holding (chain, dust_from) where (dust_from is not null);
create index holding_stale on holding (chain) where is_stale;
create index holding_summed on holding (chain, dust_block) where (dust_block >= 0);
create index holding_unverified on holding (chain, verify_from) where (verify_from is not null);

-- crossing: written by src/bridge/store.ts
create table crossing (
  movement_id bigint not null,
  intent_id text not null,
  chain text not null,
  chain_tx text not null,
  token text not null,
  units numeric(78,0) not null,
  bridge text not null,
  settle_chain text not null,
  status text not null,
  message text,
  attestation text,
  mint text,
  expires_at_block numeric(20,0),
  outgoing_id bigint,
  attempts integer default 0 not null,
  retry_at timestamptz,
  reason text,
  status_since timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  queue smallint default 1 not null,
  proof_tx text not null,
  constraint crossing_pkey primary key (movement_id),
  constraint crossing_check check ((status = 'burned') or (mint is not null)),
  constraint crossing_queue_check check (queue in (1, 2, 3)),
  constraint crossing_status_check check (status in ('burned', 'attested', 'landed')),
  constraint crossing_units_check check (units > 0)
);
alter table crossing add constraint crossing_intent_id_fkey foreign key (intent_id) references intent(id);
alter table crossing add constraint crossing_movement_id_fkey foreign key (movement_id) references movement(id);
alter table crossing add constraint crossing_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id);
create index crossing_attested on crossing (queue, settle_chain, retry_at) where (status = 'attested');
create index crossing_burned on crossing (queue, retry_at, chain, proof_tx) where (status = 'burned');
create index crossing_by_worth on crossing (queue, settle_chain, units, movement_id) where (status = 'attested');
create unique index crossing_mint on crossing (settle_chain, mint) where (mint is not null);
create index crossing_of_proof_tx on crossing (chain, proof_tx) where (status = 'burned');

-- bridge_budget: written by src/bridge/budget/budgetStore.ts
create table bridge_budget (
  name text not null,
  free_at timestamptz not null,
  constraint bridge_budget_pkey primary key (name)
);

-- settlement: written by src/settlement/store.ts
create table settlement (
  id text not null,
  seq bigint generated always as identity,
  intent_id text not null,
  chain text not null,
  token text not null,
  status text not null,
  gross_units numeric(78,0),
  fee_units numeric(78,0),
  route_cost_units numeric(78,0),
  net_units numeric(78,0),
  reason text,
  outgoing_id bigint,
  chain_tx text,
  block_number bigint,
  attempts integer default 0 not null,
  retry_at timestamptz,
  created_at timestamptz not null,
  submitted_at timestamptz,
  landed_at timestamptz,
  updated_at timestamptz not null,
  landed_chain text,
  landed_chain_tx text,
  landed_block_number bigint,
  burn_id bigint,
  constraint settlement_pkey primary key (id),
  constraint settlement_bridges_a_burn check (((burn_id is null) or (chain_tx is not null)) and ((burn_id is not null) or ((status <> 'bridging') and (landed_chain is null)))),
  constraint settlement_check check ((gross_units is null) or (gross_units = ((fee_units + route_cost_units) + net_units))),
  constraint settlement_check1 check ((status <> 'landed') or ((gross_units is not null) and (chain_tx is not null) and (landed_at is not null))),
  constraint settlement_check2 check ((status <> 'submitted') or (outgoing_id is not null)),
  constraint settlement_check3 check ((status <> all (array['held', 'failed'])) or (reason is not null)),
  constraint settlement_fee_units_check check (fee_units >= 0),
  constraint settlement_gross_units_check check (gross_units >= 0),
  constraint settlement_lands_whole check (((landed_chain is null) = (landed_chain_tx is null)) and ((landed_chain is null) = (landed_block_number is null)) and ((landed_chain is null) or (status = 'landed'))),
  constraint settlement_net_units_check check (net_units >= 0),
  constraint settlement_route_cost_units_check check (route_cost_units >= 0),
  constraint settlement_status_check check (status in ('planned', 'submitted', 'bridging', 'landed', 'held', 'failed'))
);
alter table settlement add constraint settlement_burn_id_fkey foreign key (burn_id) references movement(id);
alter table settlement add constraint settlement_intent_id_fkey foreign key (intent_id) references intent(id);
alter table settlement add constraint settlement_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id);
create unique index settlement_chain_tx on settlement (chain, chain_tx, intent_id, token, burn_id) nulls not distinct where (chain_tx is not null);
create index settlement_due on settlement (chain, retry_at, seq) where (status in ('planned', 'held'));
create index settlement_landed_elsewhere on settlement (landed_chain, landed_chain_tx) where (landed_chain is not null);
create index settlement_of_intent on settlement (((intent_id || '')), seq);
create unique index settlement_open on settlement (intent_id, chain, token) where (status in ('planned', 'submitted', 'held'));
create index settlement_submitted on settlement (chain, outgoing_id) where (status = 'submitted');
create index settlement_unfinished_outgoing on settlement (outgoing_id) where ((outgoing_id is not null) and (status <> all (array['landed', 'failed'])));
create or replace function settlement_days_insert()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
    begin
      insert into settlement_day_change
        (account_id, day, chain, token, changed_at, landed_count, gross_units, fee_units, route_cost_units, net_units)
      select owner.account_id, changed.day, changed.chain, changed.token, max(changed.updated_at), sum(changed.landed_count),
        sum(changed.gross_units), sum(changed.fee_units), sum(changed.route_cost_units), sum(changed.net_units)
      from (
        select intent_id, (landed_at at time zone 'UTC')::date as day, chain, token, updated_at, 1 as landed_count,
          1 * gross_units as gross_units, 1 * fee_units as fee_units,
          1 * route_cost_units as route_cost_units, 1 * net_units as net_units
        from fresh where status = 'landed'
      ) as changed cross join lateral (select account_id from intent where id = changed.intent_id offset 0) as owner
      group by owner.account_id, changed.day, changed.chain, changed.token
      having (sum(changed.landed_count), sum(changed.gross_units), sum(changed.fee_units), sum(changed.route_cost_units),
        sum(changed.net_units)) is distinct from (0, 0, 0, 0, 0);
      return null;
    end $function$;
create or replace function settlement_days_update()
 returns trigger
 language plpgsql
 set enable_seqscan to 'off'
as $function$
    begin
      insert into settlement_day_change
        (account_id, day, chain, token, changed_at, landed_count, gross_units, fee_units, route_cost_units, net_units)
      select owner.account_id, changed.day, changed.chain, changed.token, max(changed.updated_at), sum(changed.landed_count),
        sum(changed.gross_units), sum(changed.fee_units), sum(changed.route_cost_units), sum(changed.net_units)
      from (
        select intent_id, (landed_at at time zone 'UTC')::date as day, chain, token, updated_at, 1 as landed_count,
          1 * gross_units as gross_units, 1 * fee_units as fee_units,
          1 * route_cost_units as route_cost_units, 1 * net_units as net_units
        from fresh where status = 'landed' union all 
        select intent_id, (landed_at at time zone 'UTC')::date as day, chain, token, updated_at, -1 as landed_count,
          -1 * gross_units as gross_units, -1 * fee_units as fee_units,
          -1 * route_cost_units as route_cost_units, -1 * net_units as net_units
        from stale where status = 'landed'
      ) as changed cross join lateral (select account_id from intent where id = changed.intent_id offset 0) as owner
      group by owner.account_id, changed.day, changed.chain, changed.token
      having (sum(changed.landed_count), sum(changed.gross_units), sum(changed.fee_units), sum(changed.route_cost_units),
        sum(changed.net_units)) is distinct from (0, 0, 0, 0, 0);
      return null;
    end $function$;
create trigger settlement_days_insert after insert on settlement referencing new table as fresh for each statement execute function settlement_days_insert();
create trigger settlement_days_update after update on settlement referencing old table as stale new table as fresh for each statement execute function settlement_days_update();

-- sweep_agreement: written by src/settlement/agreement/agreementStore.ts
create table sweep_agreement (
  chain text not null,
  chain_tx text not null,
  intent_id text not null,
  token text not null,
  legs_revision bigint not null,
  legs_count integer not null,
  state text not null,
  answers json not null,
  attempts integer default 0 not null,
  asked_at timestamptz not null,
  retry_at timestamptz,
  constraint sweep_agreement_pkey primary key (chain, chain_tx, intent_id, token),
  constraint sweep_agreement_attempts_check check (attempts >= 0),
  constraint sweep_agreement_check check ((state = 'asking') = (retry_at is not null)),
  constraint sweep_agreement_legs_count_check check (legs_count > 0),
  constraint sweep_agreement_state_check check (state in ('asking', 'agreed'))
);
alter table sweep_agreement add constraint sweep_agreement_intent_id_fkey foreign key (intent_id) references intent(id);
create index sweep_agreement_agreed on sweep_agreement (asked_at) where (state = 'agreed');
create index sweep_agreement_due on sweep_agreement (chain, retry_at) where (state = 'asking');

-- webhook_endpoint: written by src/webhook/endpoint/endpointStore.ts
create table webhook_endpoint (
  number integer generated always as identity,
  id text not null,
  account_id text not null,
  url text not null,
  types text[] not null,
  description text,
  status text not null,
  disabled_reason text,
  secret bytea not null,
  earlier_secrets jsonb default '[]'::jsonb not null,
  fanned_sequence bigint not null,
  is_behind boolean not null,
  due_at timestamptz,
  due_since timestamptz,
  lease_token bigint not null,
  leased_until timestamptz,
  failing_since timestamptz,
  failing_reported_at timestamptz,
  undelivered_sequence bigint,
  replays integer default 0 not null,
  replays_since timestamptz,
  queue text generated always as (
case
    when (failing_since is null) then 'healthy'
    when (status = 'enabled') then 'failing'
    else 'healing'
end) stored,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  constraint webhook_endpoint_pkey primary key (number),
  constraint webhook_endpoint_id_key unique (id),
  constraint webhook_endpoint_check check ((status = 'disabled') = (disabled_reason is not null)),
  constraint webhook_endpoint_disabled_reason_check check (disabled_reason in ('requested', 'gone', 'failing')),
  constraint webhook_endpoint_due_check check ((due_at is null) = (due_since is null)),
  constraint webhook_endpoint_earlier_secrets_check check (jsonb_array_length(earlier_secrets) <= 3),
  constraint webhook_endpoint_secret_check check ((octet_length(secret) >= 24) and (octet_length(secret) <= 64)),
  constraint webhook_endpoint_status_check check (status in ('enabled', 'disabled')),
  constraint webhook_endpoint_types_check check (cardinality(types) > 0)
);
alter table webhook_endpoint add constraint webhook_endpoint_account_id_fkey foreign key (account_id) references account(id);
create index webhook_endpoint_behind on webhook_endpoint (number) where is_behind;
create index webhook_endpoint_deleted on webhook_endpoint (deleted_at) where (deleted_at is not null);
create index webhook_endpoint_due on webhook_endpoint (queue, due_at) where (due_at is not null);
create index webhook_endpoint_due_since on webhook_endpoint (queue, due_since) where (due_since is not null);
create index webhook_endpoint_failing on webhook_endpoint (failing_since) where (failing_since is not null);
create index webhook_endpoint_of_account on webhook_endpoint (account_id, number) where (deleted_at is null);

-- webhook_cursor: written by src/webhook/cursorStore.ts
create table webhook_cursor (
  only_row boolean default true not null,
  counter_revision bigint not null,
  constraint webhook_cursor_pkey primary key (only_row),
  constraint webhook_cursor_only_row_check check (only_row)
);

-- webhook_delivery: written by src/webhook/deliveryStore.ts
create table webhook_delivery (
  endpoint_number integer not null,
  number bigint generated always as identity,
  event_position bigint,
  sequence bigint not null,
  intent_number bigint,
  is_replay boolean not null,
  test_event json,
  status text not null,
  tries integer not null,
  tries_before integer default 0 not null,
  due_at timestamptz,
  due_since timestamptz,
  created_at timestamptz not null,
  closed_at timestamptz,
  constraint webhook_delivery_pkey primary key (endpoint_number, number),
  constraint webhook_delivery_check check ((status = 'pending') = (closed_at is null)),
  constraint webhook_delivery_check1 check ((status = 'pending') or (due_at is null)),
  constraint webhook_delivery_check2 check ((test_event is null) = (event_position is not null)),
  constraint webhook_delivery_due_check check ((due_at is null) = (due_since is null)),
  constraint webhook_delivery_status_check check (status in ('pending', 'succeeded', 'failed'))
);
alter table webhook_delivery add constraint webhook_delivery_endpoint_number_fkey foreign key (endpoint_number) references webhook_endpoint(number);
create index webhook_delivery_closed on webhook_delivery (closed_at) where (closed_at is not null);
create index webhook_delivery_due on webhook_delivery (endpoint_number, due_at, number) where (due_at is not null);
create index webhook_delivery_due_since on webhook_delivery (endpoint_number, due_since) where (due_since is not null);
create index webhook_delivery_failed on webhook_delivery (endpoint_number, number) where (status = 'failed');
create index webhook_delivery_lane on webhook_delivery (endpoint_number, intent_number, is_replay, sequence, number) where (status = 'pending');
create unique index webhook_delivery_of_event on webhook_delivery (endpoint_number, event_position) where (not is_replay);
create index webhook_delivery_open on webhook_delivery (endpoint_number, is_replay, sequence) where (status = 'pending');
create index webhook_delivery_replay on webhook_delivery (endpoint_number, event_position, number) where is_replay;
create index webhook_delivery_test on webhook_delivery (endpoint_number, ((test_event ->> 'id'))) where (test_event is not null);

-- webhook_attempt: written by src/webhook/deliveryStore.ts
create table webhook_attempt (
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
  answer bytea,
  constraint webhook_attempt_pkey primary key (endpoint_number, delivery_number, attempt),
  constraint webhook_attempt_answer_check check (octet_length(answer) <= 2048)
);
alter table webhook_attempt add constraint webhook_attempt_endpoint_number_delivery_number_fkey foreign key (endpoint_number, delivery_number) references webhook_delivery(endpoint_number, number) on delete cascade;

-- account_notification: written by src/webhook/notice/noticeStore.ts
create table account_notification (
  account_id text not null,
  url text not null,
  secret bytea not null,
  changed_at timestamptz not null,
  constraint account_notification_pkey primary key (account_id)
);
alter table account_notification add constraint account_notification_account_id_fkey foreign key (account_id) references account(id);

-- account_notice: written by src/webhook/notice/noticeStore.ts
create table account_notice (
  number bigint generated always as identity,
  id text not null,
  account_id text not null,
  type text not null,
  webhook_endpoint_id text not null,
  message text not null,
  at timestamptz not null,
  tries integer not null,
  due_at timestamptz not null,
  constraint account_notice_pkey primary key (number)
);
alter table account_notice add constraint account_notice_account_id_fkey foreign key (account_id) references account(id);
create index account_notice_due on account_notice (due_at);

-- service_process: written by src/health/processStore.ts
create table service_process (
  id text not null,
  roles text[] not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  constraint service_process_pkey primary key (id)
);

-- rate_log: written by src/http/rate/leaseStore.ts
create unlogged table rate_log (
  key text not null,
  counted_until_ms bigint[] not null,
  granted integer not null,
  granted_until_ms bigint not null,
  holder text not null,
  constraint rate_log_pkey primary key (key),
  constraint rate_log_granted_check check (granted >= 0)
) with (fillfactor=50);

-- postponed: written by src/watch/postponed/postponedStore.ts
create table postponed (
  chain text not null,
  chain_tx text not null,
  block_number bigint not null,
  inboxes text[] not null,
  first_seen_at timestamptz not null,
  retry_at timestamptz not null,
  constraint postponed_pkey primary key (chain, chain_tx),
  constraint postponed_block_number_check check (block_number >= 0),
  constraint postponed_inboxes_check check (inboxes <> '{}'::text[])
);
create index postponed_block on postponed (chain, block_number);
create index postponed_inboxes on postponed using gin (inboxes);

-- burn_rent: written by src/bridge/rent/rentStore.ts
create table burn_rent (
  movement_id bigint not null,
  chain text not null,
  reclaim_at timestamptz not null,
  constraint burn_rent_pkey primary key (movement_id)
);
alter table burn_rent add constraint burn_rent_movement_id_fkey foreign key (movement_id) references movement(id);
create index burn_rent_due on burn_rent (chain, reclaim_at);

-- provider_hint: written by src/view/hintStore.ts
create table provider_hint (
  chain text not null,
  provider text not null,
  last_at timestamptz not null,
  constraint provider_hint_pkey primary key (chain, provider)
);

-- ops_link: written by src/dashboard/opsLinkStore.ts
create table ops_link (
  code_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  constraint ops_link_pkey primary key (code_hash),
  constraint ops_link_code_hash_check check (octet_length(code_hash) = 32)
);
create index ops_link_expires on ops_link (expires_at);

-- dashboard_session: written by src/dashboard/sessionStore.ts
create table dashboard_session (
  id text not null,
  account_id text not null,
  key_id text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  constraint dashboard_session_pkey primary key (id)
);
alter table dashboard_session add constraint dashboard_session_account_id_fkey foreign key (account_id) references account(id);
alter table dashboard_session add constraint dashboard_session_key_id_fkey foreign key (key_id) references api_key(key_id);
create index dashboard_session_expires on dashboard_session (expires_at);

-- member: written by src/dashboard/memberStore.ts
create table member (
  id text not null,
  account_id text not null,
  namespace text not null,
  wallet text not null,
  role text not null,
  name text,
  created_at timestamptz not null,
  removed_at timestamptz,
  chain text,
  constraint member_pkey primary key (id),
  constraint member_chain_check check ((chain is null) or (namespace = 'eip155')),
  constraint member_namespace_check check (namespace in ('eip155', 'solana')),
  constraint member_role_check check (role in ('owner', 'developer', 'reader'))
);
alter table member add constraint member_account_id_fkey foreign key (account_id) references account(id);
create unique index member_of_account on member (account_id, namespace, wallet) where (removed_at is null);
create index member_of_wallet on member (namespace, wallet) where (removed_at is null);

-- sign_in_challenge: written by src/dashboard/signIn/challengeStore.ts
create table sign_in_challenge (
  nonce text not null,
  namespace text not null,
  wallet text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  chain text,
  constraint sign_in_challenge_pkey primary key (nonce)
);
create index sign_in_challenge_expires on sign_in_challenge (expires_at);

-- member_session: written by src/dashboard/sessionStore.ts
create table member_session (
  id text not null,
  account_id text not null,
  member_id text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  constraint member_session_pkey primary key (id)
);
alter table member_session add constraint member_session_account_id_fkey foreign key (account_id) references account(id);
alter table member_session add constraint member_session_member_id_fkey foreign key (member_id) references member(id);
create index member_session_expires on member_session (expires_at);

-- payout_change: written by src/dashboard/payoutChangeStore.ts
create table payout_change (
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
  constraint payout_change_due check ((due_at is not null) or (status in ('proposed', 'stopped'))),
  constraint payout_change_ended check ((ended_at is not null) = (status in ('applied', 'stopped'))),
  constraint payout_change_status_check check (status in ('proposed', 'waiting', 'applied', 'stopped'))
);
alter table payout_change add constraint payout_change_account_id_fkey foreign key (account_id) references account(id);
create index payout_change_due_at on payout_change (due_at) where (status = 'waiting');
create index payout_change_of_account on payout_change (account_id, proposed_at desc);
create unique index payout_change_open on payout_change (account_id) where (status in ('proposed', 'waiting'));

-- audit_entry: written by src/dashboard/auditStore.ts
create table audit_entry (
  number bigint generated always as identity,
  account_id text not null,
  at timestamptz not null,
  actor text not null,
  action text not null,
  details json not null,
  constraint audit_entry_pkey primary key (number)
);
alter table audit_entry add constraint audit_entry_account_id_fkey foreign key (account_id) references account(id);
create index audit_entry_of_account on audit_entry (account_id, number desc);
create index audit_entry_of_actor on audit_entry (account_id, actor, number desc);
create or replace function audit_entry_stays()
 returns trigger
 language plpgsql
as $function$
    begin
      raise exception 'an entry of the audit log is permanent';
    end $function$;
create trigger audit_entry_stays before delete or update on audit_entry for each row execute function audit_entry_stays();

-- settlement_day_change: written by src/settlement/days/settlementDayStore.ts
create table settlement_day_change (
  number bigint generated always as identity,
  account_id text not null,
  day date not null,
  chain text not null,
  token text not null,
  changed_at timestamptz not null,
  landed_count bigint not null,
  gross_units numeric(78,0) not null,
  fee_units numeric(78,0) not null,
  route_cost_units numeric(78,0) not null,
  net_units numeric(78,0) not null,
  constraint settlement_day_change_pkey primary key (number)
);

-- settlement_day: written by src/settlement/days/settlementDayStore.ts
create table settlement_day (
  account_id text not null,
  day date not null,
  chain text not null,
  token text not null,
  landed_count bigint not null,
  gross_units numeric(78,0) not null,
  fee_units numeric(78,0) not null,
  route_cost_units numeric(78,0) not null,
  net_units numeric(78,0) not null,
  constraint settlement_day_pkey primary key (account_id, day, chain, token)
);
alter table settlement_day add constraint settlement_day_account_id_fkey foreign key (account_id) references account(id);
create index settlement_day_day on settlement_day (day);

-- dashboard_link: written by src/dashboard/signIn/dashboardLinkStore.ts
create table dashboard_link (
  code_hash bytea not null,
  member_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  constraint dashboard_link_pkey primary key (code_hash)
);
alter table dashboard_link add constraint dashboard_link_member_id_fkey foreign key (member_id) references member(id);
create index dashboard_link_expires on dashboard_link (expires_at);

-- listed_deposit: a view
create view listed_deposit as
 select deposit.id,
    movement.id as movement_id,
    movement.intent_id,
    movement.chain,
    movement.token,
    deposit.token_decimals,
    coalesce(deposit.sender, movement.counterparty) as sender,
    coalesce(deposit.amount_units, movement.amount_units) as amount_units,
    coalesce(deposit.counted_units,
        case
            when ((movement.orphaned_at is null) and (movement.block_number <= holding.counted_block)) then movement.amount_units
            else (0)::numeric
        end) as counted_units,
    coalesce(deposit.status,
        case
            when (movement.orphaned_at is not null) then 'dropped'::text
            when (holding.intent_id is null) then 'held'::text
            when (movement.block_number <= holding.counted_block) then 'counted'::text
            when (movement.block_number <= holding.dust_block) then 'confirmed'::text
            else 'seen'::text
        end) as status,
        case
            when (deposit.id is not null) then deposit.reason
            when (movement.orphaned_at is not null) then 'reorg'::text
            when (holding.intent_id is null) then 'no_route'::text
            when ((movement.block_number > holding.counted_block) and (movement.block_number <= holding.dust_block)) then 'below_minimum'::text
            else null::text
        end as reason,
    deposit.late,
    movement.chain_tx,
    movement.identity,
    coalesce(deposit.block_number, movement.block_number) as block_number,
    coalesce(deposit.block_hash, movement.block_hash) as block_hash,
    deposit.required_confirmations,
        case
            when (deposit.id is not null) then deposit.settlement_id
            when ((movement.orphaned_at is null) and (holding.intent_id is not null)) then ( select ( select settlement.id
                       from settlement
                      where ((settlement.chain = departure.chain) and (settlement.chain_tx = departure.chain_tx) and (settlement.intent_id = departure.intent_id) and (settlement.token = departure.token) and (settlement.status = 'landed'::text) and ((settlement.burn_id is null) or (settlement.burn_id = departure.id)))) as id
               from movement departure
              where ((departure.intent_id = movement.intent_id) and (departure.chain = movement.chain) and (departure.token = movement.token) and (departure.direction = 'out'::text) and (departure.orphaned_at is null) and (row(departure.block_number, departure.place) > row(movement.block_number, movement.place)))
              order by departure.block_number, departure.place
             limit 1)
            else null::text
        end as settlement_id,
    coalesce(deposit.seen_at, movement.seen_at) as seen_at,
    coalesce(deposit.counted_at,
        case
            when ((movement.orphaned_at is null) and (movement.block_number <= holding.counted_block)) then holding.dust_counted_at
            else null::timestamp with time zone
        end) as counted_at,
    movement.inbox,
    coalesce(encode(deployment.deployment_id, 'hex'::text), ''::text) as deployment,
    deposit.required_seconds
   from ((((movement
     left join deposit on ((deposit.movement_id = movement.id)))
     left join holding on (((holding.intent_id = movement.intent_id) and (holding.chain = movement.chain) and (holding.token = movement.token))))
     left join deposit_cursor taken on ((taken.chain = movement.chain)))
     left join deployment on (true))
  where ((movement.direction = 'in'::text) and ((deposit.id is not null) or (row(movement.revision, movement.id) <= row(coalesce(taken.revision, (0)::bigint), coalesce(taken.movement_id, (0)::bigint)))));

create or replace function pinned_minimum(intent intent, chain text, token text)
 returns numeric
 language sql
 stable
as $function$
      select case when pinned_minimum.chain = intent.payout_namespace || ':' || intent.payout_chain_reference then intent.minimum_units
        else coalesce((
          select (origin ->> 'minimumUnits')::numeric from route_set cross join lateral json_array_elements(route_set.origins) as origin
          where route_set.id = intent.route_set and 'eip155:' || (origin ->> 'chainId') = pinned_minimum.chain
            and origin ->> 'token' = pinned_minimum.token), (
          select (hop ->> 'minimumUnits')::numeric from route_set cross join lateral json_array_elements(route_set.hops) as hop
          where route_set.id = intent.route_set and hop ->> 'chain' = pinned_minimum.chain and hop ->> 'mint' = pinned_minimum.token),
          intent.minimum_units) end
    $function$;
