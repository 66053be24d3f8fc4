-- The database of the baseline migrations. Written by `npm run baseline`.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.inboxes_stay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        raise exception 'an inbox stays as it is: % is refused', lower(tg_op) using errcode = 'integrity_constraint_violation';
      end $$;
CREATE FUNCTION public.intent_has_its_route_set() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        if not exists (select from route_set where id = new.route_set and root = new.routes_root) then
          raise exception 'intent % has no stored route set with the root that it pins', new.id using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $$;
CREATE FUNCTION public.intent_pins_hold() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        if (new.id, new.seq, new.account_id, new.livemode, new.price_units, new.price_token_units, new.one_time, new.merchant_reference, new.metadata::text, new.payout_namespace, new.payout_chain_reference, new.payout_wallet, new.payout_token, new.payout_decimals, new.rail_id, new.minimum_units, new.fee_bps, new.fee_recipient, new.underpay_tolerance_bps, new.recovery, new.recover_after, new.routes_root, new.route_set, new.hop_recovery, new.inbox_salt, new.inbox_hub, new.inbox_implementation, new.inbox_address, new.return_url, new.description, new.rent_recipient, new.created_at) is distinct from (old.id, old.seq, old.account_id, old.livemode, old.price_units, old.price_token_units, old.one_time, old.merchant_reference, old.metadata::text, old.payout_namespace, old.payout_chain_reference, old.payout_wallet, old.payout_token, old.payout_decimals, old.rail_id, old.minimum_units, old.fee_bps, old.fee_recipient, old.underpay_tolerance_bps, old.recovery, old.recover_after, old.routes_root, old.route_set, old.hop_recovery, old.inbox_salt, old.inbox_hub, old.inbox_implementation, old.inbox_address, old.return_url, old.description, old.rent_recipient, old.created_at)
        then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $$;
CREATE FUNCTION public.intents_stay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        raise exception 'an intent stays, since money may come into its inbox at any time' using errcode = 'integrity_constraint_violation';
      end $$;
CREATE FUNCTION public.ledger_balance_is_drawn() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        if pg_trigger_depth() < 2 then
          raise exception 'a balance is drawn from entries: % on % is refused', lower(tg_op), tg_table_name using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $$;
CREATE FUNCTION public.ledger_entries_are_whole() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
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
      end $$;
CREATE FUNCTION public.ledger_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        raise exception 'the ledger is only ever added to: % on % is refused', lower(tg_op), tg_table_name using errcode = 'integrity_constraint_violation';
      end $$;
CREATE FUNCTION public.ledger_postings_are_sound() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
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
      end $$;
CREATE FUNCTION public.merchant_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        update merchant_version set version = version + 1;
        return null;
      end $$;
CREATE FUNCTION public.movement_stays_of_its_inbox() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        raise exception 'movement % stays that of its inbox', old.id using errcode = 'integrity_constraint_violation';
      end $$;
CREATE FUNCTION public.movements_are_of_their_inbox() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
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
      end $$;
CREATE FUNCTION public.outgoing_bytes_stay() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
      begin
        if exists (select from outgoing_transaction where id = old.outgoing_id and purged_at is null) then
          raise exception 'the bytes of transaction % stay until it is purged', old.outgoing_id using errcode = 'integrity_constraint_violation';
        end if;
        return old;
      end $$;
CREATE FUNCTION public.outgoing_purge_waits_for_settlements() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
      begin
        if exists (select from settlement where outgoing_id = new.id and status not in ('landed', 'failed')) then
          raise exception 'transaction % keeps its bytes until its settlements have ended', new.id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.intent (
    id text NOT NULL,
    seq bigint NOT NULL,
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    status text NOT NULL,
    occupies boolean NOT NULL,
    price_units bigint,
    price_token_units numeric(78,0),
    one_time boolean NOT NULL,
    merchant_reference text,
    metadata json,
    payout_namespace text NOT NULL,
    payout_chain_reference text NOT NULL,
    payout_wallet text NOT NULL,
    payout_token text NOT NULL,
    payout_decimals integer NOT NULL,
    rail_id text NOT NULL,
    minimum_units numeric(78,0) NOT NULL,
    fee_bps integer NOT NULL,
    fee_recipient text NOT NULL,
    underpay_tolerance_bps integer NOT NULL,
    recovery text NOT NULL,
    recover_after bigint NOT NULL,
    routes_root text NOT NULL,
    inbox_salt text NOT NULL,
    inbox_hub text NOT NULL,
    inbox_implementation text NOT NULL,
    inbox_address text NOT NULL,
    widget_token_hash bytea NOT NULL,
    customer_bound_at timestamp with time zone,
    received_units numeric(78,0) DEFAULT 0 NOT NULL,
    counted_units numeric(78,0) DEFAULT 0 NOT NULL,
    settled_units numeric(78,0) DEFAULT 0 NOT NULL,
    fee_units numeric(78,0) DEFAULT 0 NOT NULL,
    net_units numeric(78,0) DEFAULT 0 NOT NULL,
    pending_count integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    archived_at timestamp with time zone,
    return_url text,
    description text,
    route_set text,
    hop_recovery text,
    rent_recipient text,
    agreement_units numeric(78,0) DEFAULT 0 NOT NULL,
    late_units numeric(78,0) DEFAULT 0 NOT NULL,
    CONSTRAINT intent_arrived CHECK (((agreement_units >= (0)::numeric) AND (late_units >= (0)::numeric))),
    CONSTRAINT intent_check CHECK (((NOT one_time) OR (price_units IS NOT NULL))),
    CONSTRAINT intent_check1 CHECK (((price_units IS NULL) = (price_token_units IS NULL))),
    CONSTRAINT intent_check2 CHECK (((status <> 'settled'::text) OR (one_time AND (settled_at IS NOT NULL)))),
    CONSTRAINT intent_check3 CHECK (((status <> 'archived'::text) OR (archived_at IS NOT NULL))),
    CONSTRAINT intent_check4 CHECK ((settled_units >= (fee_units + net_units))),
    CONSTRAINT intent_counted_units_check CHECK ((counted_units >= (0)::numeric)),
    CONSTRAINT intent_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 1000))),
    CONSTRAINT intent_fee_units_check CHECK ((fee_units >= (0)::numeric)),
    CONSTRAINT intent_hops_have_set CHECK (((hop_recovery IS NULL) OR (route_set IS NOT NULL))),
    CONSTRAINT intent_minimum_units_check CHECK ((minimum_units >= (0)::numeric)),
    CONSTRAINT intent_net_units_check CHECK ((net_units >= (0)::numeric)),
    CONSTRAINT intent_payout_decimals_check CHECK (((payout_decimals >= 0) AND (payout_decimals <= 36))),
    CONSTRAINT intent_payout_namespace_check CHECK ((payout_namespace = ANY (ARRAY['eip155'::text, 'solana'::text]))),
    CONSTRAINT intent_pending_count_check CHECK ((pending_count >= 0)),
    CONSTRAINT intent_price_token_units_check CHECK ((price_token_units > (0)::numeric)),
    CONSTRAINT intent_price_units_check CHECK (((price_units >= 1) AND (price_units <= '9007199254740991'::bigint))),
    CONSTRAINT intent_received_units_check CHECK ((received_units >= (0)::numeric)),
    CONSTRAINT intent_rent_recipient_of_solana CHECK (((rent_recipient IS NULL) OR (payout_namespace = 'solana'::text))),
    CONSTRAINT intent_route_set_or_empty_root CHECK (((route_set IS NOT NULL) OR (routes_root = '0x0000000000000000000000000000000000000000000000000000000000000000'::text))),
    CONSTRAINT intent_settled_units_check CHECK ((settled_units >= (0)::numeric)),
    CONSTRAINT intent_status_check CHECK ((status = ANY (ARRAY['active'::text, 'settled'::text, 'archived'::text]))),
    CONSTRAINT intent_underpay_tolerance_bps_check CHECK (((underpay_tolerance_bps >= 0) AND (underpay_tolerance_bps <= 500))),
    CONSTRAINT intent_widget_token_hash_check CHECK ((length(widget_token_hash) = 32))
);
CREATE FUNCTION public.pinned_minimum(intent public.intent, chain text, token text) RETURNS numeric
    LANGUAGE sql STABLE
    AS $$
      select case when pinned_minimum.chain = intent.payout_namespace || ':' || intent.payout_chain_reference then intent.minimum_units
        else coalesce((
          select (origin ->> 'minimumUnits')::numeric from route_set cross join lateral json_array_elements(route_set.origins) as origin
          where route_set.id = intent.route_set and 'eip155:' || (origin ->> 'chainId') = pinned_minimum.chain
            and origin ->> 'token' = pinned_minimum.token), (
          select (hop ->> 'minimumUnits')::numeric from route_set cross join lateral json_array_elements(route_set.hops) as hop
          where route_set.id = intent.route_set and hop ->> 'chain' = pinned_minimum.chain and hop ->> 'mint' = pinned_minimum.token),
          intent.minimum_units) end
    $$;
CREATE FUNCTION public.route_sets_stay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        raise exception 'a route set stays as it is, since inbox addresses commit to it' using errcode = 'integrity_constraint_violation';
      end $$;
CREATE FUNCTION public.source_inboxes_are_inboxes() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
      begin
        if (
    select inbox.intent_id from inbox
    where inbox.address = new.address and inbox.namespace = new.namespace and inbox.reference in ('', new.reference)) is distinct from new.intent_id then
          raise exception 'the source inbox % is no inbox of intent %', new.address, new.intent_id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $$;
CREATE TABLE public.account (
    id text NOT NULL,
    name text NOT NULL,
    environment text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    payout_namespace text,
    payout_chain_reference text,
    payout_wallet text,
    currency text,
    fee_bps integer DEFAULT 0 NOT NULL,
    underpay_tolerance_bps integer DEFAULT 0 NOT NULL,
    recovery text,
    created_at timestamp with time zone NOT NULL,
    origins text[],
    solana_recovery text,
    solana_default_reference text,
    solana_default_wallet text,
    number integer NOT NULL,
    evm_default_reference text,
    evm_default_wallet text,
    CONSTRAINT account_environment_check CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT account_evm_default CHECK ((num_nulls(evm_default_reference, evm_default_wallet) = ANY (ARRAY[0, 2]))),
    CONSTRAINT account_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 1000))),
    CONSTRAINT account_one_default_a_namespace CHECK ((((payout_namespace IS DISTINCT FROM 'eip155'::text) OR (evm_default_wallet IS NULL)) AND ((payout_namespace IS DISTINCT FROM 'solana'::text) OR (solana_default_wallet IS NULL)))),
    CONSTRAINT account_payout_namespace_check CHECK ((payout_namespace = ANY (ARRAY['eip155'::text, 'solana'::text]))),
    CONSTRAINT account_solana_default CHECK ((num_nulls(solana_default_reference, solana_default_wallet) = ANY (ARRAY[0, 2]))),
    CONSTRAINT account_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text]))),
    CONSTRAINT account_underpay_tolerance_bps_check CHECK (((underpay_tolerance_bps >= 0) AND (underpay_tolerance_bps <= 500)))
);
CREATE TABLE public.account_brand (
    account_id text NOT NULL,
    accent text,
    accent_dark text,
    radius_px integer,
    font text,
    support text,
    logo bytea,
    logo_type text,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT account_brand_accent_check CHECK ((accent ~ '^#[0-9a-f]{6}$'::text)),
    CONSTRAINT account_brand_accent_dark_check CHECK ((accent_dark ~ '^#[0-9a-f]{6}$'::text)),
    CONSTRAINT account_brand_check CHECK (((logo IS NULL) = (logo_type IS NULL))),
    CONSTRAINT account_brand_logo_check CHECK ((octet_length(logo) <= 32768)),
    CONSTRAINT account_brand_logo_type_check CHECK ((logo_type = ANY (ARRAY['image/png'::text, 'image/svg+xml'::text]))),
    CONSTRAINT account_brand_radius_px_check CHECK (((radius_px >= 0) AND (radius_px <= 24)))
);
CREATE TABLE public.account_notice (
    number bigint NOT NULL,
    id text NOT NULL,
    account_id text NOT NULL,
    type text NOT NULL,
    webhook_endpoint_id text NOT NULL,
    message text NOT NULL,
    at timestamp with time zone NOT NULL,
    tries integer NOT NULL,
    due_at timestamp with time zone NOT NULL
);
ALTER TABLE public.account_notice ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.account_notice_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.account_notification (
    account_id text NOT NULL,
    url text NOT NULL,
    secret bytea NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
ALTER TABLE public.account ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.account_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.api_key (
    key_id text NOT NULL,
    account_id text NOT NULL,
    secret_hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    default_namespace text,
    CONSTRAINT api_key_default_namespace_check CHECK ((default_namespace = ANY (ARRAY['eip155'::text, 'solana'::text]))),
    CONSTRAINT api_key_secret_hash_check CHECK ((length(secret_hash) = 32))
);
CREATE TABLE public.awaited_burn (
    mint_id bigint NOT NULL,
    bridge text NOT NULL,
    searched_number bigint,
    lowest_number bigint,
    attempts integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone NOT NULL,
    unexplained_since timestamp with time zone NOT NULL,
    settle_chain text NOT NULL,
    suspended_at timestamp with time zone
);
CREATE TABLE public.balance_difference (
    chain text NOT NULL,
    inbox text NOT NULL,
    token text NOT NULL,
    intent_id text NOT NULL,
    block_number bigint NOT NULL,
    ledger_units numeric(78,0) NOT NULL,
    chain_units numeric(78,0) NOT NULL,
    searched_number bigint NOT NULL,
    lowest_number bigint,
    next_at timestamp with time zone NOT NULL,
    found_at timestamp with time zone NOT NULL,
    CONSTRAINT balance_difference_check CHECK ((ledger_units <> chain_units))
);
CREATE TABLE public.balance_pass (
    chain text NOT NULL,
    scope text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    "position" text,
    compared_count bigint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    completed_count bigint,
    CONSTRAINT balance_pass_scope_check CHECK ((scope = ANY (ARRAY['created'::text, 'moved'::text, 'viewed'::text, 'all'::text, 'settled'::text, 'other_tokens'::text])))
);
CREATE TABLE public.block (
    chain text NOT NULL,
    hash text NOT NULL,
    number bigint NOT NULL,
    parent_hash text NOT NULL,
    orphaned_at timestamp with time zone,
    timestamp_s bigint
);
CREATE TABLE public.bridge_budget (
    name text NOT NULL,
    free_at timestamp with time zone NOT NULL
);
CREATE TABLE public.chain_cursor (
    chain text NOT NULL,
    genesis_hash text,
    number bigint NOT NULL,
    hash text NOT NULL,
    safe_number bigint DEFAULT '-1'::integer NOT NULL,
    finalized_number bigint DEFAULT '-1'::integer NOT NULL,
    reread_number bigint NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    booked_number bigint DEFAULT '-1'::integer NOT NULL,
    rewound_number bigint,
    pruned_number bigint DEFAULT '-1'::integer NOT NULL
);
CREATE TABLE public.checkout_handoff (
    code_hash bytea NOT NULL,
    intent_id text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.crossing (
    movement_id bigint NOT NULL,
    intent_id text NOT NULL,
    chain text NOT NULL,
    chain_tx text NOT NULL,
    token text NOT NULL,
    units numeric(78,0) NOT NULL,
    bridge text NOT NULL,
    settle_chain text NOT NULL,
    status text NOT NULL,
    message text,
    attestation text,
    mint text,
    expires_at_block numeric(20,0),
    outgoing_id bigint,
    attempts integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    reason text,
    status_since timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    queue smallint DEFAULT 1 NOT NULL,
    proof_tx text NOT NULL,
    CONSTRAINT crossing_check CHECK (((status = 'burned'::text) OR (mint IS NOT NULL))),
    CONSTRAINT crossing_queue_check CHECK ((queue = ANY (ARRAY[1, 2, 3]))),
    CONSTRAINT crossing_status_check CHECK ((status = ANY (ARRAY['burned'::text, 'attested'::text, 'landed'::text]))),
    CONSTRAINT crossing_units_check CHECK ((units > (0)::numeric))
);
CREATE TABLE public.database_epoch (
    only_row boolean DEFAULT true NOT NULL,
    epoch integer NOT NULL,
    counter bigint NOT NULL,
    system_identifier text,
    timeline_id integer,
    began_at timestamp with time zone,
    reason text,
    feeds_restored_to integer,
    CONSTRAINT database_epoch_began_check CHECK ((((epoch = 0) = (began_at IS NULL)) AND ((epoch = 0) = (reason IS NULL)))),
    CONSTRAINT database_epoch_only_row_check CHECK (only_row),
    CONSTRAINT database_epoch_reason_check CHECK ((reason = ANY (ARRAY['counter'::text, 'server'::text, 'timeline'::text, 'marked'::text])))
);
CREATE TABLE public.deployment (
    only_row boolean DEFAULT true NOT NULL,
    deployment_id bytea NOT NULL,
    signing_secret bytea NOT NULL,
    CONSTRAINT deployment_deployment_id_check CHECK ((length(deployment_id) = 32)),
    CONSTRAINT deployment_only_row_check CHECK (only_row),
    CONSTRAINT deployment_signing_secret_check CHECK ((length(signing_secret) = 32))
);
CREATE TABLE public.deposit (
    id text NOT NULL,
    seq bigint NOT NULL,
    movement_id bigint NOT NULL,
    intent_id text NOT NULL,
    chain text NOT NULL,
    token text NOT NULL,
    token_decimals integer NOT NULL,
    sender text NOT NULL,
    amount_units numeric(78,0) NOT NULL,
    counted_units numeric(78,0) DEFAULT 0 NOT NULL,
    status text NOT NULL,
    reason text,
    late boolean DEFAULT false NOT NULL,
    chain_tx text NOT NULL,
    identity text NOT NULL,
    block_number bigint NOT NULL,
    block_hash text NOT NULL,
    required_confirmations integer,
    settlement_id text,
    seen_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    counted_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    agreed_at timestamp with time zone,
    required_seconds integer,
    counted_final_block bigint,
    counted_next_block bigint,
    counted_limit_units numeric(78,0),
    CONSTRAINT deposit_amount_units_check CHECK ((amount_units >= (0)::numeric)),
    CONSTRAINT deposit_check CHECK (((status = 'counted'::text) = (counted_at IS NOT NULL))),
    CONSTRAINT deposit_check1 CHECK (((status = 'counted'::text) OR (counted_units = (0)::numeric))),
    CONSTRAINT deposit_check2 CHECK (((status <> ALL (ARRAY['held'::text, 'dropped'::text])) OR (reason IS NOT NULL))),
    CONSTRAINT deposit_counted_limit CHECK (((counted_limit_units IS NULL) = (counted_next_block IS NULL))),
    CONSTRAINT deposit_counted_units_check CHECK ((counted_units >= (0)::numeric)),
    CONSTRAINT deposit_status_check CHECK ((status = ANY (ARRAY['seen'::text, 'confirmed'::text, 'counted'::text, 'held'::text, 'dropped'::text])))
);
CREATE TABLE public.deposit_agreement (
    deposit_id text NOT NULL,
    chain text NOT NULL,
    block_hash text NOT NULL,
    state text NOT NULL,
    answers json NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT deposit_agreement_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT deposit_agreement_check CHECK (((state = 'asking'::text) = (retry_at IS NOT NULL))),
    CONSTRAINT deposit_agreement_state_check CHECK ((state = ANY (ARRAY['asking'::text, 'agreed'::text])))
);
CREATE TABLE public.deposit_cursor (
    chain text NOT NULL,
    revision bigint NOT NULL,
    movement_id bigint NOT NULL
);
ALTER TABLE public.deposit ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.deposit_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.event (
    "position" bigint NOT NULL,
    sequence bigint,
    intent_number bigint,
    created_at timestamp with time zone NOT NULL,
    account_number integer NOT NULL,
    type smallint NOT NULL,
    format smallint NOT NULL,
    livemode boolean NOT NULL,
    id bytea NOT NULL,
    content json NOT NULL,
    CONSTRAINT event_id_check CHECK ((octet_length(id) = 16))
);
CREATE TABLE public.event_counter (
    account_number integer NOT NULL,
    last_sequence bigint NOT NULL,
    revision bigint NOT NULL
);
CREATE TABLE public.event_expiry (
    only_row boolean DEFAULT true NOT NULL,
    expired_before timestamp with time zone NOT NULL,
    CONSTRAINT event_expiry_only_row_check CHECK (only_row)
);
ALTER TABLE public.event ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.event_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.gas_account (
    chain text NOT NULL,
    address text NOT NULL,
    next_nonce bigint NOT NULL,
    CONSTRAINT gas_account_next_nonce_check CHECK ((next_nonce >= 0))
);
CREATE TABLE public.holding (
    intent_id text NOT NULL,
    chain text NOT NULL,
    token text NOT NULL,
    dust_from bigint,
    is_stale boolean DEFAULT false NOT NULL,
    dust_block bigint DEFAULT '-1'::integer NOT NULL,
    waiting_count bigint DEFAULT 0 NOT NULL,
    waiting_units numeric(78,0) DEFAULT 0 NOT NULL,
    waiting_held_units numeric(78,0) DEFAULT 0 NOT NULL,
    counted_block bigint DEFAULT '-1'::integer NOT NULL,
    dust_count bigint DEFAULT 0 NOT NULL,
    dust_units numeric(78,0) DEFAULT 0 NOT NULL,
    dust_held_units numeric(78,0) DEFAULT 0 NOT NULL,
    dust_counted_at timestamp with time zone,
    verified_block bigint DEFAULT '-1'::integer NOT NULL,
    verify_from timestamp with time zone,
    unswept_units numeric(78,0) DEFAULT 0 NOT NULL,
    unswept_since timestamp with time zone,
    due_from timestamp with time zone,
    rest_block bigint,
    rest_place bigint,
    rest_since timestamp with time zone,
    rest_units numeric(78,0) DEFAULT 0 NOT NULL,
    rest_counted_units numeric(78,0) DEFAULT 0 NOT NULL,
    suspense_units numeric(78,0) DEFAULT 0 NOT NULL,
    CONSTRAINT holding_check CHECK (((waiting_held_units >= (0)::numeric) AND (waiting_held_units <= waiting_units))),
    CONSTRAINT holding_check1 CHECK (((dust_held_units >= (0)::numeric) AND (dust_held_units <= dust_units))),
    CONSTRAINT holding_check2 CHECK ((counted_block <= dust_block)),
    CONSTRAINT holding_check3 CHECK (((unswept_units = (0)::numeric) = (unswept_since IS NULL))),
    CONSTRAINT holding_check4 CHECK (((due_from IS NULL) OR (unswept_units > (0)::numeric))),
    CONSTRAINT holding_dust_count_check CHECK ((dust_count >= 0)),
    CONSTRAINT holding_dust_units_check CHECK ((dust_units >= (0)::numeric)),
    CONSTRAINT holding_rest CHECK (((rest_counted_units >= (0)::numeric) AND (rest_units >= (0)::numeric) AND ((rest_units = (0)::numeric) OR (rest_block IS NOT NULL)) AND (num_nulls(rest_block, rest_place, rest_since) = ANY (ARRAY[0, 3])))),
    CONSTRAINT holding_unswept_units_check CHECK ((unswept_units >= (0)::numeric)),
    CONSTRAINT holding_waiting_count_check CHECK ((waiting_count >= 0)),
    CONSTRAINT holding_waiting_units_check CHECK ((waiting_units >= (0)::numeric))
);
CREATE TABLE public.idempotent_answer (
    account_id text NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    status integer NOT NULL,
    body json NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotent_answer_body_hash_check CHECK ((length(body_hash) = 32)),
    CONSTRAINT idempotent_answer_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
    CONSTRAINT idempotent_answer_status_check CHECK (((status >= 200) AND (status <= 299)))
);
CREATE TABLE public.inbox (
    seq bigint NOT NULL,
    namespace text NOT NULL,
    reference text NOT NULL,
    address text NOT NULL,
    intent_id text NOT NULL,
    kind text NOT NULL,
    token text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT inbox_check CHECK (((namespace = 'eip155'::text) = (reference = ''::text))),
    CONSTRAINT inbox_check1 CHECK (((namespace <> 'eip155'::text) OR ((token = ''::text) AND (address ~ '^0x[0-9a-f]{40}$'::text)))),
    CONSTRAINT inbox_kind_check CHECK ((kind = ANY (ARRAY['deposit'::text, 'source'::text]))),
    CONSTRAINT inbox_namespace_check CHECK ((namespace = ANY (ARRAY['eip155'::text, 'solana'::text])))
);
ALTER TABLE public.inbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.inbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.intent ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.intent_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ledger_balance (
    holder text NOT NULL,
    asset text NOT NULL,
    account text NOT NULL,
    balance_units numeric(78,0) NOT NULL,
    CONSTRAINT ledger_balance_custody CHECK (((balance_units >= (0)::numeric) OR (account !~~ 'inbox:%'::text))),
    CONSTRAINT ledger_balance_missing CHECK (((balance_units <= (0)::numeric) OR (NOT ((account ~~ 'unseen:%'::text) OR (account = 'loss:reorg'::text)))))
);
CREATE TABLE public.ledger_entry (
    posting_id bigint NOT NULL,
    place integer NOT NULL,
    account text NOT NULL,
    asset text NOT NULL,
    amount_units numeric(78,0) NOT NULL,
    CONSTRAINT ledger_entry_account_check CHECK (((account = ANY (ARRAY['payer:world'::text, 'payout:world'::text, 'fee:platform'::text, 'fee:bridge'::text, 'loss:reorg'::text])) OR (account ~~ 'inbox:_%'::text) OR (account ~~ 'bridge:_%'::text) OR (account ~~ 'hub:_%'::text) OR (account ~~ 'suspense:_%'::text) OR (account ~~ 'unseen:_%'::text))),
    CONSTRAINT ledger_entry_amount_units_check CHECK ((amount_units <> (0)::numeric)),
    CONSTRAINT ledger_entry_asset_check CHECK ((asset ~~ '_%:_%/_%:_%'::text)),
    CONSTRAINT ledger_entry_place_check CHECK ((place >= 1))
);
CREATE TABLE public.ledger_posting (
    id bigint NOT NULL,
    reference text NOT NULL,
    version bigint NOT NULL,
    reverses bigint,
    custody text NOT NULL,
    chain text NOT NULL,
    chain_tx text NOT NULL,
    block_number bigint NOT NULL,
    entry_count integer NOT NULL,
    booked_at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_posting_check CHECK (((reverses IS NULL) OR ((reference = ('reversal:'::text || reverses)) AND (version = 1)))),
    CONSTRAINT ledger_posting_custody_check CHECK ((custody ~~ 'inbox:_%'::text)),
    CONSTRAINT ledger_posting_entry_count_check CHECK ((entry_count >= 2))
);
ALTER TABLE public.ledger_posting ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ledger_posting_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.movement (
    id bigint NOT NULL,
    chain text NOT NULL,
    chain_tx text NOT NULL,
    identity text NOT NULL,
    direction text NOT NULL,
    intent_id text NOT NULL,
    inbox text NOT NULL,
    token text NOT NULL,
    counterparty text NOT NULL,
    amount_units numeric(78,0) NOT NULL,
    block_number bigint NOT NULL,
    block_hash text NOT NULL,
    place bigint NOT NULL,
    revision bigint NOT NULL,
    explained_by text,
    seen_at timestamp with time zone NOT NULL,
    orphaned_at timestamp with time zone,
    fee_units numeric(78,0),
    batch_place bigint,
    batch_fee_units numeric(78,0),
    bridge_fee_units numeric(78,0),
    in_suspense boolean DEFAULT false NOT NULL,
    CONSTRAINT movement_amount_units_check CHECK ((amount_units >= (0)::numeric)),
    CONSTRAINT movement_bridge_fee_is_explained CHECK ((((bridge_fee_units IS NULL) = (explained_by IS NULL)) AND ((bridge_fee_units IS NULL) OR (bridge_fee_units = (0)::numeric) OR ((direction = 'in'::text) AND (bridge_fee_units > (0)::numeric))))),
    CONSTRAINT movement_direction_check CHECK ((direction = ANY (ARRAY['in'::text, 'out'::text]))),
    CONSTRAINT movement_fee_is_of_batch CHECK ((((fee_units IS NULL) = (batch_place IS NULL)) AND ((fee_units IS NULL) = (batch_fee_units IS NULL)) AND ((fee_units IS NULL) OR ((direction = 'out'::text) AND ((fee_units >= (0)::numeric) AND (fee_units <= amount_units)) AND (fee_units <= batch_fee_units))))),
    CONSTRAINT movement_identity_check CHECK ((identity <> ''::text)),
    CONSTRAINT movement_place_check CHECK ((place >= 0))
);
CREATE TABLE public.settlement (
    id text NOT NULL,
    seq bigint NOT NULL,
    intent_id text NOT NULL,
    chain text NOT NULL,
    token text NOT NULL,
    status text NOT NULL,
    gross_units numeric(78,0),
    fee_units numeric(78,0),
    route_cost_units numeric(78,0),
    net_units numeric(78,0),
    reason text,
    outgoing_id bigint,
    chain_tx text,
    block_number bigint,
    attempts integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    submitted_at timestamp with time zone,
    landed_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    landed_chain text,
    landed_chain_tx text,
    landed_block_number bigint,
    burn_id bigint,
    CONSTRAINT settlement_bridges_a_burn CHECK ((((burn_id IS NULL) OR (chain_tx IS NOT NULL)) AND ((burn_id IS NOT NULL) OR ((status <> 'bridging'::text) AND (landed_chain IS NULL))))),
    CONSTRAINT settlement_check CHECK (((gross_units IS NULL) OR (gross_units = ((fee_units + route_cost_units) + net_units)))),
    CONSTRAINT settlement_check1 CHECK (((status <> 'landed'::text) OR ((gross_units IS NOT NULL) AND (chain_tx IS NOT NULL) AND (landed_at IS NOT NULL)))),
    CONSTRAINT settlement_check2 CHECK (((status <> 'submitted'::text) OR (outgoing_id IS NOT NULL))),
    CONSTRAINT settlement_check3 CHECK (((status <> ALL (ARRAY['held'::text, 'failed'::text])) OR (reason IS NOT NULL))),
    CONSTRAINT settlement_fee_units_check CHECK ((fee_units >= (0)::numeric)),
    CONSTRAINT settlement_gross_units_check CHECK ((gross_units >= (0)::numeric)),
    CONSTRAINT settlement_lands_whole CHECK ((((landed_chain IS NULL) = (landed_chain_tx IS NULL)) AND ((landed_chain IS NULL) = (landed_block_number IS NULL)) AND ((landed_chain IS NULL) OR (status = 'landed'::text)))),
    CONSTRAINT settlement_net_units_check CHECK ((net_units >= (0)::numeric)),
    CONSTRAINT settlement_route_cost_units_check CHECK ((route_cost_units >= (0)::numeric)),
    CONSTRAINT settlement_status_check CHECK ((status = ANY (ARRAY['planned'::text, 'submitted'::text, 'bridging'::text, 'landed'::text, 'held'::text, 'failed'::text])))
);
CREATE VIEW public.listed_deposit AS
 SELECT deposit.id,
    movement.id AS movement_id,
    movement.intent_id,
    movement.chain,
    movement.token,
    deposit.token_decimals,
    COALESCE(deposit.sender, movement.counterparty) AS sender,
    COALESCE(deposit.amount_units, movement.amount_units) AS amount_units,
    COALESCE(deposit.counted_units,
        CASE
            WHEN ((movement.orphaned_at IS NULL) AND (movement.block_number <= holding.counted_block)) THEN movement.amount_units
            ELSE (0)::numeric
        END) AS counted_units,
    COALESCE(deposit.status,
        CASE
            WHEN (movement.orphaned_at IS NOT NULL) THEN 'dropped'::text
            WHEN (holding.intent_id IS NULL) THEN 'held'::text
            WHEN (movement.block_number <= holding.counted_block) THEN 'counted'::text
            WHEN (movement.block_number <= holding.dust_block) THEN 'confirmed'::text
            ELSE 'seen'::text
        END) AS status,
        CASE
            WHEN (deposit.id IS NOT NULL) THEN deposit.reason
            WHEN (movement.orphaned_at IS NOT NULL) THEN 'reorg'::text
            WHEN (holding.intent_id IS NULL) THEN 'no_route'::text
            WHEN ((movement.block_number > holding.counted_block) AND (movement.block_number <= holding.dust_block)) THEN 'below_minimum'::text
            ELSE NULL::text
        END AS reason,
    deposit.late,
    movement.chain_tx,
    movement.identity,
    COALESCE(deposit.block_number, movement.block_number) AS block_number,
    COALESCE(deposit.block_hash, movement.block_hash) AS block_hash,
    deposit.required_confirmations,
        CASE
            WHEN (deposit.id IS NOT NULL) THEN deposit.settlement_id
            WHEN ((movement.orphaned_at IS NULL) AND (holding.intent_id IS NOT NULL)) THEN ( SELECT ( SELECT settlement.id
                       FROM public.settlement
                      WHERE ((settlement.chain = departure.chain) AND (settlement.chain_tx = departure.chain_tx) AND (settlement.intent_id = departure.intent_id) AND (settlement.token = departure.token) AND (settlement.status = 'landed'::text) AND ((settlement.burn_id IS NULL) OR (settlement.burn_id = departure.id)))) AS id
               FROM public.movement departure
              WHERE ((departure.intent_id = movement.intent_id) AND (departure.chain = movement.chain) AND (departure.token = movement.token) AND (departure.direction = 'out'::text) AND (departure.orphaned_at IS NULL) AND (ROW(departure.block_number, departure.place) > ROW(movement.block_number, movement.place)))
              ORDER BY departure.block_number, departure.place
             LIMIT 1)
            ELSE NULL::text
        END AS settlement_id,
    COALESCE(deposit.seen_at, movement.seen_at) AS seen_at,
    COALESCE(deposit.counted_at,
        CASE
            WHEN ((movement.orphaned_at IS NULL) AND (movement.block_number <= holding.counted_block)) THEN holding.dust_counted_at
            ELSE NULL::timestamp with time zone
        END) AS counted_at,
    movement.inbox,
    COALESCE(encode(deployment.deployment_id, 'hex'::text), ''::text) AS deployment,
    deposit.required_seconds
   FROM ((((public.movement
     LEFT JOIN public.deposit ON ((deposit.movement_id = movement.id)))
     LEFT JOIN public.holding ON (((holding.intent_id = movement.intent_id) AND (holding.chain = movement.chain) AND (holding.token = movement.token))))
     LEFT JOIN public.deposit_cursor taken ON ((taken.chain = movement.chain)))
     LEFT JOIN public.deployment ON (true))
  WHERE ((movement.direction = 'in'::text) AND ((deposit.id IS NOT NULL) OR (ROW(movement.revision, movement.id) <= ROW(COALESCE(taken.revision, (0)::bigint), COALESCE(taken.movement_id, (0)::bigint)))));
CREATE TABLE public.merchant_version (
    only_row boolean DEFAULT true NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT merchant_version_only_row_check CHECK (only_row)
);
CREATE TABLE public.migration (
    name text NOT NULL,
    applied_at timestamp with time zone NOT NULL
);
ALTER TABLE public.movement ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.movement_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.origin_switch (
    chain text NOT NULL,
    token text NOT NULL,
    is_enabled boolean NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
CREATE TABLE public.outgoing_attempt (
    outgoing_id bigint NOT NULL,
    attempt integer NOT NULL,
    chain_tx text NOT NULL,
    raw text NOT NULL,
    max_fee_per_gas numeric(78,0),
    max_priority_fee_per_gas numeric(78,0),
    created_at timestamp with time zone NOT NULL,
    submitted_at timestamp with time zone,
    last_valid_height bigint,
    CONSTRAINT outgoing_attempt_attempt_check CHECK ((attempt >= 1)),
    CONSTRAINT outgoing_attempt_check CHECK ((num_nulls(max_fee_per_gas, max_priority_fee_per_gas) = ANY (ARRAY[0, 2]))),
    CONSTRAINT outgoing_attempt_check1 CHECK (((last_valid_height IS NULL) OR (max_fee_per_gas IS NULL))),
    CONSTRAINT outgoing_attempt_last_valid_height_check CHECK ((last_valid_height >= 0))
);
CREATE TABLE public.outgoing_transaction (
    id bigint NOT NULL,
    chain text NOT NULL,
    sender text NOT NULL,
    nonce bigint,
    recipient text,
    data text,
    gas_limit bigint,
    status text NOT NULL,
    mined_chain_tx text,
    mined_block_number bigint,
    created_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    purged_at timestamp with time zone,
    CONSTRAINT outgoing_transaction_check CHECK ((num_nulls(nonce, recipient, data, gas_limit) = ANY (ARRAY[0, 4]))),
    CONSTRAINT outgoing_transaction_closed_check CHECK (((status = 'signed'::text) = (closed_at IS NULL))),
    CONSTRAINT outgoing_transaction_gas_limit_check CHECK ((gas_limit > 0)),
    CONSTRAINT outgoing_transaction_mined_check CHECK (((status = ANY (ARRAY['mined'::text, 'reverted'::text])) = ((mined_chain_tx IS NOT NULL) AND (mined_block_number IS NOT NULL)))),
    CONSTRAINT outgoing_transaction_purged_is_closed CHECK (((purged_at IS NULL) OR (closed_at IS NOT NULL))),
    CONSTRAINT outgoing_transaction_status_check CHECK ((status = ANY (ARRAY['signed'::text, 'mined'::text, 'reverted'::text, 'lost'::text])))
);
ALTER TABLE public.outgoing_transaction ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outgoing_transaction_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.page_origin (
    account_id text NOT NULL,
    origin text NOT NULL,
    added_at timestamp with time zone NOT NULL
);
CREATE TABLE public.primed_account (
    id bigint NOT NULL,
    chain text NOT NULL,
    intent_id text NOT NULL,
    account_id text NOT NULL,
    token text NOT NULL,
    status text NOT NULL,
    reason text,
    outgoing_id bigint,
    keep_until timestamp with time zone NOT NULL,
    retry_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    CONSTRAINT primed_account_check CHECK (((status <> ALL (ARRAY['submitted'::text, 'closing'::text])) OR (outgoing_id IS NOT NULL))),
    CONSTRAINT primed_account_check1 CHECK (((status = 'closed'::text) = (closed_at IS NOT NULL))),
    CONSTRAINT primed_account_status_check CHECK ((status = ANY (ARRAY['planned'::text, 'submitted'::text, 'open'::text, 'closing'::text, 'closed'::text])))
);
ALTER TABLE public.primed_account ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.primed_account_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.quarantine (
    station text NOT NULL,
    chain text NOT NULL,
    intent_id text NOT NULL,
    revision bigint NOT NULL,
    movement_id bigint NOT NULL,
    reason text NOT NULL,
    attempts integer NOT NULL,
    since timestamp with time zone NOT NULL,
    retry_at timestamp with time zone NOT NULL,
    CONSTRAINT quarantine_attempts_check CHECK ((attempts > 0)),
    CONSTRAINT quarantine_station_check CHECK ((station = ANY (ARRAY['deposit'::text, 'settlement'::text])))
);
CREATE UNLOGGED TABLE public.rate_log (
    key text NOT NULL,
    counted_until_ms bigint[] NOT NULL,
    granted integer NOT NULL,
    granted_until_ms bigint NOT NULL,
    holder text NOT NULL,
    CONSTRAINT rate_log_granted_check CHECK ((granted >= 0))
)
WITH (fillfactor='50');
CREATE TABLE public.route_set (
    id text NOT NULL,
    root text NOT NULL,
    routes json NOT NULL,
    origins json NOT NULL,
    hops json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT route_set_content_check CHECK (((json_array_length(hops) > 0) OR (root <> '0x0000000000000000000000000000000000000000000000000000000000000000'::text))),
    CONSTRAINT route_set_id_check CHECK ((id ~ '^0x[0-9a-f]{64}$'::text)),
    CONSTRAINT route_set_root_check CHECK ((root ~ '^0x[0-9a-f]{64}$'::text))
);
CREATE TABLE public.served_token (
    chain text NOT NULL,
    token text NOT NULL,
    symbol text NOT NULL,
    since timestamp with time zone NOT NULL
);
CREATE TABLE public.service_process (
    id text NOT NULL,
    roles text[] NOT NULL,
    version text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
CREATE TABLE public.settlement_cursor (
    chain text NOT NULL,
    revision bigint NOT NULL,
    movement_id bigint NOT NULL
);
ALTER TABLE public.settlement ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.settlement_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.source_inbox (
    intent_id text NOT NULL,
    namespace text NOT NULL,
    reference text NOT NULL,
    address text NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    token text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.sweep_agreement (
    chain text NOT NULL,
    chain_tx text NOT NULL,
    intent_id text NOT NULL,
    token text NOT NULL,
    legs_revision bigint NOT NULL,
    legs_count integer NOT NULL,
    state text NOT NULL,
    answers json NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT sweep_agreement_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT sweep_agreement_check CHECK (((state = 'asking'::text) = (retry_at IS NOT NULL))),
    CONSTRAINT sweep_agreement_legs_count_check CHECK ((legs_count > 0)),
    CONSTRAINT sweep_agreement_state_check CHECK ((state = ANY (ARRAY['asking'::text, 'agreed'::text])))
);
CREATE TABLE public.unreadable (
    chain text NOT NULL,
    subject text NOT NULL,
    kind text NOT NULL,
    chain_tx text,
    block_number bigint,
    place bigint,
    inboxes text[] NOT NULL,
    names_program boolean NOT NULL,
    reason text NOT NULL,
    providers text NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone NOT NULL,
    CONSTRAINT unreadable_check CHECK ((names_program OR (inboxes <> '{}'::text[]))),
    CONSTRAINT unreadable_kind_check CHECK ((kind = ANY (ARRAY['transaction'::text, 'log'::text, 'account'::text]))),
    CONSTRAINT unreadable_tries_check CHECK ((tries >= 0))
);
CREATE TABLE public.unreadable_overflow (
    chain text NOT NULL,
    left_out bigint NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    CONSTRAINT unreadable_overflow_left_out_check CHECK ((left_out > 0))
);
CREATE TABLE public.view_hint (
    intent_id text NOT NULL,
    namespace text NOT NULL,
    reference text NOT NULL,
    token text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.webhook_attempt (
    endpoint_number integer NOT NULL,
    delivery_number bigint NOT NULL,
    attempt integer NOT NULL,
    at timestamp with time zone NOT NULL,
    url text NOT NULL,
    status_code integer,
    error text,
    connected_ms integer,
    first_byte_ms integer,
    total_ms integer NOT NULL,
    answer bytea,
    CONSTRAINT webhook_attempt_answer_check CHECK ((octet_length(answer) <= 2048))
);
CREATE TABLE public.webhook_cursor (
    only_row boolean DEFAULT true NOT NULL,
    counter_revision bigint NOT NULL,
    CONSTRAINT webhook_cursor_only_row_check CHECK (only_row)
);
CREATE TABLE public.webhook_delivery (
    endpoint_number integer NOT NULL,
    number bigint NOT NULL,
    event_position bigint,
    sequence bigint NOT NULL,
    intent_number bigint,
    is_replay boolean NOT NULL,
    test_event json,
    status text NOT NULL,
    tries integer NOT NULL,
    tries_before integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    due_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    CONSTRAINT webhook_delivery_check CHECK (((status = 'pending'::text) = (closed_at IS NULL))),
    CONSTRAINT webhook_delivery_check1 CHECK (((status = 'pending'::text) OR (due_at IS NULL))),
    CONSTRAINT webhook_delivery_check2 CHECK (((test_event IS NULL) = (event_position IS NOT NULL))),
    CONSTRAINT webhook_delivery_due_check CHECK (((due_at IS NULL) = (due_since IS NULL))),
    CONSTRAINT webhook_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);
ALTER TABLE public.webhook_delivery ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_delivery_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.webhook_endpoint (
    number integer NOT NULL,
    id text NOT NULL,
    account_id text NOT NULL,
    url text NOT NULL,
    types text[] NOT NULL,
    description text,
    status text NOT NULL,
    disabled_reason text,
    secret bytea NOT NULL,
    earlier_secrets jsonb DEFAULT '[]'::jsonb NOT NULL,
    fanned_sequence bigint NOT NULL,
    is_behind boolean NOT NULL,
    due_at timestamp with time zone,
    due_since timestamp with time zone,
    lease_token bigint NOT NULL,
    leased_until timestamp with time zone,
    failing_since timestamp with time zone,
    failing_reported_at timestamp with time zone,
    undelivered_sequence bigint,
    replays integer DEFAULT 0 NOT NULL,
    replays_since timestamp with time zone,
    queue text GENERATED ALWAYS AS (
CASE
    WHEN (failing_since IS NULL) THEN 'healthy'::text
    WHEN (status = 'enabled'::text) THEN 'failing'::text
    ELSE 'healing'::text
END) STORED,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT webhook_endpoint_check CHECK (((status = 'disabled'::text) = (disabled_reason IS NOT NULL))),
    CONSTRAINT webhook_endpoint_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['requested'::text, 'gone'::text, 'failing'::text]))),
    CONSTRAINT webhook_endpoint_due_check CHECK (((due_at IS NULL) = (due_since IS NULL))),
    CONSTRAINT webhook_endpoint_earlier_secrets_check CHECK ((jsonb_array_length(earlier_secrets) <= 3)),
    CONSTRAINT webhook_endpoint_secret_check CHECK (((octet_length(secret) >= 24) AND (octet_length(secret) <= 64))),
    CONSTRAINT webhook_endpoint_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text]))),
    CONSTRAINT webhook_endpoint_types_check CHECK ((cardinality(types) > 0))
);
ALTER TABLE public.webhook_endpoint ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_endpoint_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY public.account_brand
    ADD CONSTRAINT account_brand_pkey PRIMARY KEY (account_id);
ALTER TABLE ONLY public.account_notice
    ADD CONSTRAINT account_notice_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.account_notification
    ADD CONSTRAINT account_notification_pkey PRIMARY KEY (account_id);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_number_key UNIQUE (number);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY public.awaited_burn
    ADD CONSTRAINT awaited_burn_pkey PRIMARY KEY (mint_id);
ALTER TABLE ONLY public.balance_difference
    ADD CONSTRAINT balance_difference_pkey PRIMARY KEY (chain, inbox, token);
ALTER TABLE ONLY public.balance_pass
    ADD CONSTRAINT balance_pass_pkey PRIMARY KEY (chain, scope);
ALTER TABLE ONLY public.block
    ADD CONSTRAINT block_pkey PRIMARY KEY (chain, hash);
ALTER TABLE ONLY public.bridge_budget
    ADD CONSTRAINT bridge_budget_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.chain_cursor
    ADD CONSTRAINT chain_cursor_pkey PRIMARY KEY (chain);
ALTER TABLE ONLY public.checkout_handoff
    ADD CONSTRAINT checkout_handoff_pkey PRIMARY KEY (code_hash);
ALTER TABLE ONLY public.crossing
    ADD CONSTRAINT crossing_pkey PRIMARY KEY (movement_id);
ALTER TABLE ONLY public.database_epoch
    ADD CONSTRAINT database_epoch_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY public.deposit_agreement
    ADD CONSTRAINT deposit_agreement_pkey PRIMARY KEY (deposit_id);
ALTER TABLE ONLY public.deposit_cursor
    ADD CONSTRAINT deposit_cursor_pkey PRIMARY KEY (chain);
ALTER TABLE ONLY public.deposit
    ADD CONSTRAINT deposit_movement_id_key UNIQUE (movement_id);
ALTER TABLE ONLY public.deposit
    ADD CONSTRAINT deposit_of_transfer UNIQUE (chain, chain_tx, identity, intent_id, token);
ALTER TABLE ONLY public.deposit
    ADD CONSTRAINT deposit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.event_counter
    ADD CONSTRAINT event_counter_pkey PRIMARY KEY (account_number);
ALTER TABLE ONLY public.event_expiry
    ADD CONSTRAINT event_expiry_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_id_key UNIQUE (id);
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY public.gas_account
    ADD CONSTRAINT gas_account_pkey PRIMARY KEY (chain, address);
ALTER TABLE ONLY public.holding
    ADD CONSTRAINT holding_pkey PRIMARY KEY (intent_id, chain, token);
ALTER TABLE ONLY public.idempotent_answer
    ADD CONSTRAINT idempotent_answer_pkey PRIMARY KEY (account_id, operation, key);
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_address_once UNIQUE (address, namespace, reference);
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_of_intent UNIQUE (intent_id, namespace, reference, token);
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.intent
    ADD CONSTRAINT intent_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.intent
    ADD CONSTRAINT intent_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.intent
    ADD CONSTRAINT intent_widget_token_hash_key UNIQUE (widget_token_hash);
ALTER TABLE ONLY public.ledger_balance
    ADD CONSTRAINT ledger_balance_pkey PRIMARY KEY (holder, asset, account);
ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_pkey PRIMARY KEY (posting_id, place);
ALTER TABLE ONLY public.ledger_posting
    ADD CONSTRAINT ledger_posting_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ledger_posting
    ADD CONSTRAINT ledger_posting_reference_version_key UNIQUE (reference, version);
ALTER TABLE ONLY public.ledger_posting
    ADD CONSTRAINT ledger_posting_reverses_key UNIQUE (reverses);
ALTER TABLE ONLY public.merchant_version
    ADD CONSTRAINT merchant_version_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY public.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.movement
    ADD CONSTRAINT movement_chain_chain_tx_position_direction_inbox_token_key UNIQUE (chain, chain_tx, identity, direction, inbox, token);
ALTER TABLE ONLY public.movement
    ADD CONSTRAINT movement_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.origin_switch
    ADD CONSTRAINT origin_switch_pkey PRIMARY KEY (chain, token);
ALTER TABLE ONLY public.outgoing_attempt
    ADD CONSTRAINT outgoing_attempt_chain_tx_key UNIQUE (chain_tx);
ALTER TABLE ONLY public.outgoing_attempt
    ADD CONSTRAINT outgoing_attempt_pkey PRIMARY KEY (outgoing_id, attempt);
ALTER TABLE ONLY public.outgoing_transaction
    ADD CONSTRAINT outgoing_transaction_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.page_origin
    ADD CONSTRAINT page_origin_pkey PRIMARY KEY (account_id, origin);
ALTER TABLE ONLY public.primed_account
    ADD CONSTRAINT primed_account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.quarantine
    ADD CONSTRAINT quarantine_pkey PRIMARY KEY (station, chain, intent_id);
ALTER TABLE ONLY public.rate_log
    ADD CONSTRAINT rate_log_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.route_set
    ADD CONSTRAINT route_set_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.served_token
    ADD CONSTRAINT served_token_pkey PRIMARY KEY (chain, token);
ALTER TABLE ONLY public.service_process
    ADD CONSTRAINT service_process_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.settlement_cursor
    ADD CONSTRAINT settlement_cursor_pkey PRIMARY KEY (chain);
ALTER TABLE ONLY public.settlement
    ADD CONSTRAINT settlement_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.source_inbox
    ADD CONSTRAINT source_inbox_pkey PRIMARY KEY (intent_id, namespace, reference, token);
ALTER TABLE ONLY public.sweep_agreement
    ADD CONSTRAINT sweep_agreement_pkey PRIMARY KEY (chain, chain_tx, intent_id, token);
ALTER TABLE ONLY public.unreadable_overflow
    ADD CONSTRAINT unreadable_overflow_pkey PRIMARY KEY (chain);
ALTER TABLE ONLY public.unreadable
    ADD CONSTRAINT unreadable_pkey PRIMARY KEY (chain, subject);
ALTER TABLE ONLY public.view_hint
    ADD CONSTRAINT view_hint_pkey PRIMARY KEY (intent_id, namespace, reference, token);
ALTER TABLE ONLY public.webhook_attempt
    ADD CONSTRAINT webhook_attempt_pkey PRIMARY KEY (endpoint_number, delivery_number, attempt);
ALTER TABLE ONLY public.webhook_cursor
    ADD CONSTRAINT webhook_cursor_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (endpoint_number, number);
ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_id_key UNIQUE (id);
ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (number);
CREATE INDEX account_notice_due ON public.account_notice USING btree (due_at);
CREATE INDEX api_key_of_account ON public.api_key USING btree (account_id);
CREATE UNIQUE INDEX api_key_of_hash ON public.api_key USING btree (secret_hash);
CREATE INDEX awaited_burn_due ON public.awaited_burn USING btree (bridge, next_at);
CREATE INDEX awaited_burn_suspended ON public.awaited_burn USING btree (settle_chain, suspended_at) WHERE (suspended_at IS NOT NULL);
CREATE INDEX awaited_burn_unexplained ON public.awaited_burn USING btree (settle_chain, unexplained_since) WHERE (suspended_at IS NULL);
CREATE INDEX block_by_number ON public.block USING btree (chain, number);
CREATE INDEX block_by_time ON public.block USING btree (chain, timestamp_s, number) WHERE (orphaned_at IS NULL);
CREATE UNIQUE INDEX block_canonical ON public.block USING btree (chain, number) WHERE (orphaned_at IS NULL);
CREATE INDEX checkout_handoff_expiry ON public.checkout_handoff USING btree (expires_at);
CREATE INDEX crossing_attested ON public.crossing USING btree (queue, settle_chain, retry_at) WHERE (status = 'attested'::text);
CREATE INDEX crossing_burned ON public.crossing USING btree (queue, retry_at, chain, proof_tx) WHERE (status = 'burned'::text);
CREATE INDEX crossing_by_worth ON public.crossing USING btree (queue, settle_chain, units, movement_id) WHERE (status = 'attested'::text);
CREATE UNIQUE INDEX crossing_mint ON public.crossing USING btree (settle_chain, mint) WHERE (mint IS NOT NULL);
CREATE INDEX crossing_of_proof_tx ON public.crossing USING btree (chain, proof_tx) WHERE (status = 'burned'::text);
CREATE INDEX deposit_agreement_agreed ON public.deposit_agreement USING btree (asked_at) WHERE (state = 'agreed'::text);
CREATE INDEX deposit_agreement_due ON public.deposit_agreement USING btree (chain, retry_at) WHERE (state = 'asking'::text);
CREATE INDEX deposit_held ON public.deposit USING btree (chain, reason) WHERE (status = 'held'::text);
CREATE INDEX deposit_of_intent ON public.deposit USING btree (intent_id, seq);
CREATE INDEX deposit_of_settlement ON public.deposit USING btree (settlement_id) WHERE (settlement_id IS NOT NULL);
CREATE INDEX deposit_pending ON public.deposit USING btree (chain, block_number) WHERE (status = 'seen'::text);
CREATE INDEX deposit_recent ON public.deposit USING btree (intent_id, chain, block_number);
CREATE INDEX deposit_unagreed ON public.deposit USING btree (intent_id, chain) WHERE ((status = 'counted'::text) AND (agreed_at IS NULL));
CREATE INDEX deposit_undecided ON public.deposit USING btree (intent_id, chain) WHERE ((status = ANY (ARRAY['seen'::text, 'confirmed'::text])) OR ((status = 'held'::text) AND (reason = ANY (ARRAY['provider_disagreement'::text, 'provider_agreement_pending'::text]))));
CREATE INDEX deposit_unswept ON public.deposit USING btree (intent_id, chain, token) WHERE ((status = 'counted'::text) AND (settlement_id IS NULL));
CREATE INDEX event_counter_revision ON public.event_counter USING btree (revision);
CREATE UNIQUE INDEX event_sequence ON public.event USING btree (account_number, sequence) WHERE (sequence IS NOT NULL);
CREATE INDEX event_unstamped ON public.event USING btree ("position") WHERE (sequence IS NULL);
CREATE INDEX holding_due ON public.holding USING btree (chain, due_from) WHERE (due_from IS NOT NULL);
CREATE INDEX holding_dust ON public.holding USING btree (chain, dust_from) WHERE (dust_from IS NOT NULL);
CREATE INDEX holding_stale ON public.holding USING btree (chain) WHERE is_stale;
CREATE INDEX holding_summed ON public.holding USING btree (chain, dust_block) WHERE (dust_block >= 0);
CREATE INDEX holding_unverified ON public.holding USING btree (chain, verify_from) WHERE (verify_from IS NOT NULL);
CREATE INDEX idempotent_answer_expiry ON public.idempotent_answer USING btree (expires_at);
CREATE INDEX intent_by_status ON public.intent USING btree (account_id, status, (
CASE
    WHEN (counted_units = (0)::numeric) THEN 'unpaid'::text
    WHEN (price_token_units IS NULL) THEN 'paid'::text
    WHEN ((counted_units * (10000)::numeric) < (price_token_units * ((10000 - underpay_tolerance_bps))::numeric)) THEN 'partial'::text
    WHEN (one_time AND (counted_units > price_token_units)) THEN 'overpaid'::text
    ELSE 'paid'::text
END), seq DESC);
CREATE INDEX intent_by_time ON public.intent USING btree (account_id, created_at, seq);
CREATE UNIQUE INDEX intent_number ON public.intent USING btree (seq);
CREATE UNIQUE INDEX intent_occupied_destination ON public.intent USING btree (account_id, payout_namespace, payout_chain_reference, payout_wallet, payout_token) WHERE ((status = 'active'::text) AND occupies);
CREATE UNIQUE INDEX intent_of_account ON public.intent USING btree (account_id, id COLLATE "C");
CREATE INDEX intent_page ON public.intent USING btree (account_id, seq DESC);
CREATE INDEX intent_reference ON public.intent USING btree (account_id, merchant_reference, seq DESC) WHERE (merchant_reference IS NOT NULL);
CREATE INDEX intent_unbound ON public.intent USING btree (seq) WHERE ((customer_bound_at IS NULL) AND (status = 'active'::text));
CREATE INDEX ledger_entry_of_account ON public.ledger_entry USING btree (account, asset, posting_id);
CREATE INDEX ledger_posting_by_time ON public.ledger_posting USING brin (booked_at);
CREATE INDEX movement_by_block ON public.movement USING btree (((chain || ''::text)), block_number);
CREATE INDEX movement_crossing ON public.movement USING btree (intent_id, chain, token, block_number, place) WHERE (explained_by IS NOT NULL);
CREATE INDEX movement_handover ON public.movement USING btree ((((chain || ' '::text) || direction)), revision, id);
CREATE INDEX movement_in_suspense ON public.movement USING btree (intent_id, chain, token) WHERE in_suspense;
CREATE INDEX movement_mint ON public.movement USING btree (chain, explained_by) WHERE ((explained_by IS NOT NULL) AND (direction = 'in'::text));
CREATE INDEX movement_of_inbox ON public.movement USING btree (intent_id, chain, token, block_number, place);
CREATE INDEX movement_out_of_inbox ON public.movement USING btree (intent_id, chain, token, block_number, place) WHERE ((direction = 'out'::text) AND (orphaned_at IS NULL));
CREATE INDEX movement_page ON public.movement USING btree (((intent_id || ''::text)), id DESC) INCLUDE (intent_id, chain, revision) WHERE (direction = 'in'::text);
CREATE INDEX movement_revision_of_intent ON public.movement USING btree ((((intent_id || ' '::text) || chain)), revision, id) WHERE (direction = 'in'::text);
CREATE INDEX outgoing_transaction_open ON public.outgoing_transaction USING btree (chain, nonce) WHERE (status = 'signed'::text);
CREATE INDEX outgoing_transaction_purge ON public.outgoing_transaction USING btree (chain, closed_at) WHERE ((closed_at IS NOT NULL) AND (purged_at IS NULL));
CREATE UNIQUE INDEX outgoing_transaction_slot ON public.outgoing_transaction USING btree (chain, sender, nonce) WHERE (status <> 'lost'::text);
CREATE UNIQUE INDEX primed_account_open ON public.primed_account USING btree (chain, intent_id, token) WHERE (status <> 'closed'::text);
CREATE INDEX primed_account_purge ON public.primed_account USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX primed_account_recent ON public.primed_account USING btree (account_id, chain, created_at);
CREATE INDEX quarantine_due ON public.quarantine USING btree (station, chain, retry_at);
CREATE UNIQUE INDEX settlement_chain_tx ON public.settlement USING btree (chain, chain_tx, intent_id, token, burn_id) NULLS NOT DISTINCT WHERE (chain_tx IS NOT NULL);
CREATE INDEX settlement_due ON public.settlement USING btree (chain, retry_at, seq) WHERE (status = ANY (ARRAY['planned'::text, 'held'::text]));
CREATE INDEX settlement_landed_elsewhere ON public.settlement USING btree (landed_chain, landed_chain_tx) WHERE (landed_chain IS NOT NULL);
CREATE INDEX settlement_of_intent ON public.settlement USING btree (((intent_id || ''::text)), seq);
CREATE UNIQUE INDEX settlement_open ON public.settlement USING btree (intent_id, chain, token) WHERE (status = ANY (ARRAY['planned'::text, 'submitted'::text, 'held'::text]));
CREATE INDEX settlement_submitted ON public.settlement USING btree (chain, outgoing_id) WHERE (status = 'submitted'::text);
CREATE INDEX settlement_unfinished_outgoing ON public.settlement USING btree (outgoing_id) WHERE ((outgoing_id IS NOT NULL) AND (status <> ALL (ARRAY['landed'::text, 'failed'::text])));
CREATE INDEX sweep_agreement_agreed ON public.sweep_agreement USING btree (asked_at) WHERE (state = 'agreed'::text);
CREATE INDEX sweep_agreement_due ON public.sweep_agreement USING btree (chain, retry_at) WHERE (state = 'asking'::text);
CREATE INDEX unreadable_due ON public.unreadable USING btree (chain, retry_at);
CREATE INDEX unreadable_inboxes ON public.unreadable USING gin (inboxes);
CREATE INDEX view_hint_expiry ON public.view_hint USING btree (expires_at);
CREATE INDEX webhook_delivery_closed ON public.webhook_delivery USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (endpoint_number, due_at, number) WHERE (due_at IS NOT NULL);
CREATE INDEX webhook_delivery_due_since ON public.webhook_delivery USING btree (endpoint_number, due_since) WHERE (due_since IS NOT NULL);
CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (endpoint_number, number) WHERE (status = 'failed'::text);
CREATE INDEX webhook_delivery_lane ON public.webhook_delivery USING btree (endpoint_number, intent_number, is_replay, sequence, number) WHERE (status = 'pending'::text);
CREATE UNIQUE INDEX webhook_delivery_of_event ON public.webhook_delivery USING btree (endpoint_number, event_position) WHERE (NOT is_replay);
CREATE INDEX webhook_delivery_open ON public.webhook_delivery USING btree (endpoint_number, is_replay, sequence) WHERE (status = 'pending'::text);
CREATE INDEX webhook_delivery_replay ON public.webhook_delivery USING btree (endpoint_number, event_position, number) WHERE is_replay;
CREATE INDEX webhook_delivery_test ON public.webhook_delivery USING btree (endpoint_number, ((test_event ->> 'id'::text))) WHERE (test_event IS NOT NULL);
CREATE INDEX webhook_endpoint_behind ON public.webhook_endpoint USING btree (number) WHERE is_behind;
CREATE INDEX webhook_endpoint_deleted ON public.webhook_endpoint USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX webhook_endpoint_due ON public.webhook_endpoint USING btree (queue, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX webhook_endpoint_due_since ON public.webhook_endpoint USING btree (queue, due_since) WHERE (due_since IS NOT NULL);
CREATE INDEX webhook_endpoint_failing ON public.webhook_endpoint USING btree (failing_since) WHERE (failing_since IS NOT NULL);
CREATE INDEX webhook_endpoint_of_account ON public.webhook_endpoint USING btree (account_id, number) WHERE (deleted_at IS NULL);
CREATE TRIGGER account_changes AFTER DELETE OR UPDATE ON public.account FOR EACH STATEMENT EXECUTE FUNCTION public.merchant_changes();
CREATE TRIGGER api_key_changes AFTER DELETE OR UPDATE OF account_id, secret_hash, scopes, expires_at, revoked_at ON public.api_key FOR EACH STATEMENT EXECUTE FUNCTION public.merchant_changes();
CREATE TRIGGER inboxes_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.inbox FOR EACH STATEMENT EXECUTE FUNCTION public.inboxes_stay();
CREATE TRIGGER intent_has_its_route_set AFTER INSERT ON public.intent FOR EACH ROW WHEN ((new.route_set IS NOT NULL)) EXECUTE FUNCTION public.intent_has_its_route_set();
CREATE TRIGGER intent_pins_hold BEFORE UPDATE ON public.intent FOR EACH ROW EXECUTE FUNCTION public.intent_pins_hold();
CREATE TRIGGER intents_stay BEFORE DELETE ON public.intent FOR EACH STATEMENT EXECUTE FUNCTION public.intents_stay();
CREATE TRIGGER ledger_balance_is_drawn BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.ledger_balance FOR EACH STATEMENT EXECUTE FUNCTION public.ledger_balance_is_drawn();
CREATE TRIGGER ledger_entries_are_whole AFTER INSERT ON public.ledger_entry REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION public.ledger_entries_are_whole();
CREATE TRIGGER ledger_entry_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION public.ledger_is_append_only();
CREATE TRIGGER ledger_posting_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_posting FOR EACH STATEMENT EXECUTE FUNCTION public.ledger_is_append_only();
CREATE TRIGGER ledger_postings_are_sound AFTER INSERT ON public.ledger_posting REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION public.ledger_postings_are_sound();
CREATE TRIGGER movement_stays_of_its_inbox BEFORE UPDATE OF intent_id, inbox ON public.movement FOR EACH ROW EXECUTE FUNCTION public.movement_stays_of_its_inbox();
CREATE TRIGGER movements_are_of_their_inbox AFTER INSERT ON public.movement REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION public.movements_are_of_their_inbox();
CREATE TRIGGER outgoing_bytes_stay BEFORE DELETE ON public.outgoing_attempt FOR EACH ROW EXECUTE FUNCTION public.outgoing_bytes_stay();
CREATE TRIGGER outgoing_purge_waits_for_settlements BEFORE UPDATE OF purged_at ON public.outgoing_transaction FOR EACH ROW WHEN ((new.purged_at IS NOT NULL)) EXECUTE FUNCTION public.outgoing_purge_waits_for_settlements();
CREATE TRIGGER route_sets_stay BEFORE DELETE OR UPDATE ON public.route_set FOR EACH STATEMENT EXECUTE FUNCTION public.route_sets_stay();
CREATE TRIGGER source_inboxes_are_inboxes BEFORE INSERT OR UPDATE ON public.source_inbox FOR EACH ROW EXECUTE FUNCTION public.source_inboxes_are_inboxes();
ALTER TABLE ONLY public.account_brand
    ADD CONSTRAINT account_brand_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.account_notice
    ADD CONSTRAINT account_notice_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.account_notification
    ADD CONSTRAINT account_notification_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.awaited_burn
    ADD CONSTRAINT awaited_burn_mint_id_fkey FOREIGN KEY (mint_id) REFERENCES public.movement(id);
ALTER TABLE ONLY public.balance_difference
    ADD CONSTRAINT balance_difference_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.checkout_handoff
    ADD CONSTRAINT checkout_handoff_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.crossing
    ADD CONSTRAINT crossing_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.crossing
    ADD CONSTRAINT crossing_movement_id_fkey FOREIGN KEY (movement_id) REFERENCES public.movement(id);
ALTER TABLE ONLY public.crossing
    ADD CONSTRAINT crossing_outgoing_id_fkey FOREIGN KEY (outgoing_id) REFERENCES public.outgoing_transaction(id);
ALTER TABLE ONLY public.deposit_agreement
    ADD CONSTRAINT deposit_agreement_deposit_id_fkey FOREIGN KEY (deposit_id) REFERENCES public.deposit(id);
ALTER TABLE ONLY public.deposit
    ADD CONSTRAINT deposit_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.deposit
    ADD CONSTRAINT deposit_movement_id_fkey FOREIGN KEY (movement_id) REFERENCES public.movement(id);
ALTER TABLE ONLY public.deposit
    ADD CONSTRAINT deposit_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES public.settlement(id);
ALTER TABLE ONLY public.holding
    ADD CONSTRAINT holding_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.intent
    ADD CONSTRAINT intent_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.ledger_posting
    ADD CONSTRAINT ledger_posting_reverses_fkey FOREIGN KEY (reverses) REFERENCES public.ledger_posting(id);
ALTER TABLE ONLY public.outgoing_attempt
    ADD CONSTRAINT outgoing_attempt_outgoing_id_fkey FOREIGN KEY (outgoing_id) REFERENCES public.outgoing_transaction(id);
ALTER TABLE ONLY public.page_origin
    ADD CONSTRAINT page_origin_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.primed_account
    ADD CONSTRAINT primed_account_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.primed_account
    ADD CONSTRAINT primed_account_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.primed_account
    ADD CONSTRAINT primed_account_outgoing_id_fkey FOREIGN KEY (outgoing_id) REFERENCES public.outgoing_transaction(id);
ALTER TABLE ONLY public.settlement
    ADD CONSTRAINT settlement_burn_id_fkey FOREIGN KEY (burn_id) REFERENCES public.movement(id);
ALTER TABLE ONLY public.settlement
    ADD CONSTRAINT settlement_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.settlement
    ADD CONSTRAINT settlement_outgoing_id_fkey FOREIGN KEY (outgoing_id) REFERENCES public.outgoing_transaction(id);
ALTER TABLE ONLY public.source_inbox
    ADD CONSTRAINT source_inbox_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.sweep_agreement
    ADD CONSTRAINT sweep_agreement_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.view_hint
    ADD CONSTRAINT view_hint_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.intent(id);
ALTER TABLE ONLY public.webhook_attempt
    ADD CONSTRAINT webhook_attempt_endpoint_number_delivery_number_fkey FOREIGN KEY (endpoint_number, delivery_number) REFERENCES public.webhook_delivery(endpoint_number, number) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_endpoint_number_fkey FOREIGN KEY (endpoint_number) REFERENCES public.webhook_endpoint(number);
ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
INSERT INTO public.migration VALUES ('0101_chain', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0102_event', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0103_idempotency', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0104_ledger', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0105_catalog', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0106_merchant', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0107_intent', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0108_priming', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0109_inbox', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0110_view', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0111_watch', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0112_deposit', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0113_bridge', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0114_settlement', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0115_webhook', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0116_health', '2026-01-01 00:00:00+00');
INSERT INTO public.migration VALUES ('0117_http', '2026-01-01 00:00:00+00');
