import { sql, type Kysely } from "kysely";

// What an intent pins, and who owns which address. Neither can be changed.

const statements: readonly string[] = [
  `create table deployment (
    only_row boolean default true not null,
    deployment_id bytea not null,
    signing_secret bytea not null,
    constraint deployment_pkey primary key (only_row),
    constraint deployment_deployment_id_check check (length(deployment_id) = 32),
    constraint deployment_only_row_check check (only_row),
    constraint deployment_signing_secret_check check (length(signing_secret) = 32)
  )`,
  `create table intent (
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
    constraint intent_pkey primary key (id),
    constraint intent_seq_key unique (seq),
    constraint intent_widget_token_hash_key unique (widget_token_hash),
    constraint intent_arrived check (((agreement_units >= 0) and (late_units >= 0))),
    constraint intent_check check ((not one_time) or (price_units is not null)),
    constraint intent_check1 check ((price_units is null) = (price_token_units is null)),
    constraint intent_check2 check ((status <> 'settled') or (one_time and (settled_at is not null))),
    constraint intent_check3 check ((status <> 'archived') or (archived_at is not null)),
    constraint intent_check4 check (settled_units >= (fee_units + net_units)),
    constraint intent_counted_units_check check (counted_units >= 0),
    constraint intent_fee_bps_check check ((fee_bps >= 0) and (fee_bps <= 1000)),
    constraint intent_fee_units_check check (fee_units >= 0),
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
    constraint intent_hops_have_set check ((hop_recovery is null) or (route_set is not null)),
    constraint intent_settled_units_check check (settled_units >= 0),
    constraint intent_status_check check (status in ('active', 'settled', 'archived')),
    constraint intent_underpay_tolerance_bps_check check ((underpay_tolerance_bps >= 0) and (underpay_tolerance_bps <= 500)),
    constraint intent_widget_token_hash_check check (length(widget_token_hash) = 32),
    constraint intent_account_id_fkey foreign key (account_id) references account(id)
  )`,
  `create index intent_by_status on intent (account_id, status, (
  case
      when (counted_units = 0) then 'unpaid'
      when (price_token_units is null) then 'paid'
      when ((counted_units * 10000) < (price_token_units * ((10000 - underpay_tolerance_bps))::numeric)) then 'partial'
      when (one_time and (counted_units > price_token_units)) then 'overpaid'
      else 'paid'
  end), seq desc)`,
  `create index intent_by_time on intent (account_id, created_at, seq)`,
  `create unique index intent_number on intent (seq)`,
  `create unique index intent_occupied_destination on intent (account_id, payout_namespace, payout_chain_reference, payout_wallet, payout_token) where ((status = 'active') and occupies)`,
  `create unique index intent_of_account on intent (account_id, id collate "C")`,
  `create index intent_page on intent (account_id, seq desc)`,
  `create index intent_reference on intent (account_id, merchant_reference, seq desc) where (merchant_reference is not null)`,
  `create index intent_unbound on intent (seq) where ((customer_bound_at is null) and (status = 'active'))`,
  // Whose an address is. Rows never change.
  `create table inbox (
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
    constraint inbox_namespace_check check (namespace in ('eip155', 'solana')),
    constraint inbox_intent_id_fkey foreign key (intent_id) references intent(id)
  )`,
  // A code that opens the checkout of an intent once, in another browser. Its use deletes it.
  `create table checkout_handoff (
    code_hash bytea not null,
    intent_id text not null,
    expires_at timestamptz not null,
    constraint checkout_handoff_pkey primary key (code_hash),
    constraint checkout_handoff_intent_id_fkey foreign key (intent_id) references intent(id)
  )`,
  `create index checkout_handoff_expiry on checkout_handoff (expires_at)`,
  // The routes that intents of one rail pin. Rows never change.
  `create table route_set (
    id text not null,
    root text not null,
    routes json not null,
    origins json not null,
    hops json not null,
    created_at timestamptz not null,
    constraint route_set_pkey primary key (id),
    constraint route_set_id_check check (id ~ '^0x[0-9a-f]{64}$'),
    constraint route_set_root_check check (root ~ '^0x[0-9a-f]{64}$'),
    constraint route_set_content_check check ((json_array_length(hops) > 0) or (root <> '0x0000000000000000000000000000000000000000000000000000000000000000'))
  )`,
  `create function inboxes_stay()
   returns trigger
   language plpgsql
  as $function$
      begin
        raise exception 'an inbox stays as it is: % is refused', lower(tg_op) using errcode = 'integrity_constraint_violation';
      end $function$`,
  `create function intent_has_its_route_set()
   returns trigger
   language plpgsql
  as $function$
      begin
        if not exists (select from route_set where id = new.route_set and root = new.routes_root) then
          raise exception 'intent % has no stored route set with the root that it pins', new.id using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$`,
  `create function intent_pins_hold()
   returns trigger
   language plpgsql
  as $function$
      begin
        if (new.id, new.seq, new.account_id, new.livemode, new.price_units, new.price_token_units, new.one_time, new.merchant_reference, new.metadata::text, new.payout_namespace, new.payout_chain_reference, new.payout_wallet, new.payout_token, new.payout_decimals, new.rail_id, new.minimum_units, new.fee_bps, new.fee_recipient, new.underpay_tolerance_bps, new.recovery, new.recover_after, new.routes_root, new.route_set, new.hop_recovery, new.inbox_salt, new.inbox_hub, new.inbox_implementation, new.inbox_address, new.return_url, new.description, new.rent_recipient, new.created_at) is distinct from (old.id, old.seq, old.account_id, old.livemode, old.price_units, old.price_token_units, old.one_time, old.merchant_reference, old.metadata::text, old.payout_namespace, old.payout_chain_reference, old.payout_wallet, old.payout_token, old.payout_decimals, old.rail_id, old.minimum_units, old.fee_bps, old.fee_recipient, old.underpay_tolerance_bps, old.recovery, old.recover_after, old.routes_root, old.route_set, old.hop_recovery, old.inbox_salt, old.inbox_hub, old.inbox_implementation, old.inbox_address, old.return_url, old.description, old.rent_recipient, old.created_at)
        then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $function$`,
  `create function intents_stay()
   returns trigger
   language plpgsql
  as $function$
      begin
        raise exception 'an intent stays, since money may come into its inbox at any time' using errcode = 'integrity_constraint_violation';
      end $function$`,
  `create function pinned_minimum(intent intent, chain text, token text)
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
    $function$`,
  `create function route_sets_stay()
   returns trigger
   language plpgsql
  as $function$
      begin
        raise exception 'a route set stays as it is, since inbox addresses commit to it' using errcode = 'integrity_constraint_violation';
      end $function$`,
  `create trigger intent_has_its_route_set after insert on intent for each row when ((new.route_set is not null)) execute function intent_has_its_route_set()`,
  `create trigger intent_pins_hold before update on intent for each row execute function intent_pins_hold()`,
  `create trigger intents_stay before delete on intent for each statement execute function intents_stay()`,
  `create trigger inboxes_stay before delete or update or truncate on inbox for each statement execute function inboxes_stay()`,
  `create trigger route_sets_stay before delete or update on route_set for each statement execute function route_sets_stay()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
