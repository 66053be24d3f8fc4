import { sql, type Kysely } from "kysely";

// Each statement stands alone, because a driver may refuse several in one call. What must never break is held here, by the
// database: uniqueness, the arrows of states that tie columns together, and that what an intent pinned is never rewritten.

const AMOUNT = "numeric(78,0)";

const statements: readonly string[] = [
  // ── event: what happened, told in the transaction in which it happened ──
  `create table event (
    position bigint generated always as identity primary key,
    id text not null unique,
    account_id text not null,
    intent_id text,
    type text not null,
    livemode boolean not null,
    merchant_reference text,
    data json not null,
    created_at timestamptz not null,
    sequence bigint,
    unique (account_id, sequence)
  )`,
  `create index event_unstamped on event (position) where sequence is null`,
  `create table event_counter (account_id text primary key, last_sequence bigint not null)`,

  // ── chain: the account that pays gas, its nonces, and the signed bytes that are on their way ──
  `create table gas_account (
    chain text not null,
    address text not null,
    next_nonce bigint not null check (next_nonce >= 0),
    primary key (chain, address)
  )`,
  `create table sending (
    id bigint generated always as identity primary key,
    chain text not null,
    sender text not null,
    nonce bigint not null,
    recipient text not null,
    data text not null,
    gas_limit bigint not null check (gas_limit > 0),
    status text not null check (status in ('signed','mined','reverted','lost')),
    mined_chain_tx text,
    mined_block_number bigint,
    created_at timestamptz not null,
    closed_at timestamptz,
    check ((status = 'signed') = (closed_at is null)),
    check ((status in ('mined','reverted')) = (mined_chain_tx is not null and mined_block_number is not null))
  )`,
  // A nonce whose transaction was displaced by a stranger's may be given out again; two live ones never share it.
  `create unique index sending_slot on sending (chain, sender, nonce) where status <> 'lost'`,
  `create index sending_open on sending (chain, nonce) where status = 'signed'`,
  `create table sending_attempt (
    sending_id bigint not null references sending (id),
    attempt int not null check (attempt >= 1),
    chain_tx text not null unique,
    raw text not null,
    max_fee_per_gas ${AMOUNT} not null,
    max_priority_fee_per_gas ${AMOUNT} not null,
    created_at timestamptz not null,
    submitted_at timestamptz,
    primary key (sending_id, attempt)
  )`,

  // ── merchant ──
  `create table account (
    id text primary key,
    name text not null,
    environment text not null check (environment in ('test','live')),
    status text not null default 'active' check (status in ('active','suspended')),
    payout_namespace text check (payout_namespace in ('eip155','solana')),
    payout_chain_reference text,
    payout_wallet text,
    currency text,
    fee_bps int not null default 0 check (fee_bps between 0 and 1000),
    underpay_tolerance_bps int not null default 0 check (underpay_tolerance_bps between 0 and 500),
    recovery text,
    created_at timestamptz not null
  )`,
  `create table api_key (
    key_id text primary key,
    account_id text not null references account (id),
    secret_hash bytea not null check (length(secret_hash) = 32),
    scopes text[] not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
  )`,
  `create index api_key_of_account on api_key (account_id)`,

  // ── intent ──
  `create table deployment (
    only_row boolean primary key default true check (only_row),
    deployment_id bytea not null check (length(deployment_id) = 32),
    signing_secret bytea not null check (length(signing_secret) = 32)
  )`,
  `create table intent (
    id text primary key,
    seq bigint generated always as identity unique,
    account_id text not null references account (id),
    livemode boolean not null,
    status text not null check (status in ('active','settled','archived')),
    occupies boolean not null,
    price_units bigint check (price_units between 1 and 9007199254740991),
    price_token_units ${AMOUNT} check (price_token_units > 0),
    one_time boolean not null,
    merchant_reference text,
    metadata json,
    payout_namespace text not null check (payout_namespace in ('eip155','solana')),
    payout_chain_reference text not null,
    payout_wallet text not null,
    payout_token text not null,
    payout_decimals int not null check (payout_decimals between 0 and 36),
    rail_id text not null,
    minimum_units ${AMOUNT} not null check (minimum_units >= 0),
    fee_bps int not null check (fee_bps between 0 and 1000),
    fee_recipient text not null,
    underpay_tolerance_bps int not null check (underpay_tolerance_bps between 0 and 500),
    recovery text not null,
    recover_after bigint not null,
    routes_root text not null,
    inbox_salt text not null,
    inbox_hub text not null,
    inbox_implementation text not null,
    inbox_address text not null unique,
    widget_token_hash bytea not null unique check (length(widget_token_hash) = 32),
    customer_bound_at timestamptz,
    received_units ${AMOUNT} not null default 0 check (received_units >= 0),
    counted_units ${AMOUNT} not null default 0 check (counted_units >= 0),
    settled_units ${AMOUNT} not null default 0 check (settled_units >= 0),
    fee_units ${AMOUNT} not null default 0 check (fee_units >= 0),
    net_units ${AMOUNT} not null default 0 check (net_units >= 0),
    pending_count int not null default 0 check (pending_count >= 0),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    settled_at timestamptz,
    archived_at timestamptz,
    check (not one_time or price_units is not null),
    check ((price_units is null) = (price_token_units is null)),
    check (status <> 'settled' or (one_time and settled_at is not null)),
    check (status <> 'archived' or archived_at is not null),
    check (settled_units >= fee_units + net_units)
  )`,
  // The one dedupe rule. Whether two creates race is decided here and nowhere else.
  `create unique index intent_occupied_destination on intent
    (account_id, payout_namespace, payout_chain_reference, payout_wallet, payout_token)
    where status = 'active' and occupies`,
  `create index intent_page on intent (account_id, seq desc)`,
  `create index intent_reference on intent (account_id, merchant_reference, seq desc) where merchant_reference is not null`,
  `create function intent_pins_hold() returns trigger language plpgsql as $body$
    begin
      if (new.id, new.account_id, new.livemode, new.price_units, new.price_token_units, new.one_time, new.payout_namespace,
          new.payout_chain_reference, new.payout_wallet, new.payout_token, new.payout_decimals, new.rail_id, new.minimum_units,
          new.fee_bps, new.fee_recipient, new.underpay_tolerance_bps, new.recovery, new.recover_after, new.routes_root,
          new.inbox_salt, new.inbox_hub, new.inbox_implementation, new.inbox_address)
        is distinct from
         (old.id, old.account_id, old.livemode, old.price_units, old.price_token_units, old.one_time, old.payout_namespace,
          old.payout_chain_reference, old.payout_wallet, old.payout_token, old.payout_decimals, old.rail_id, old.minimum_units,
          old.fee_bps, old.fee_recipient, old.underpay_tolerance_bps, old.recovery, old.recover_after, old.routes_root,
          old.inbox_salt, old.inbox_hub, old.inbox_implementation, old.inbox_address)
      then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $body$`,
  `create trigger intent_pins_hold before update on intent for each row execute function intent_pins_hold()`,

  // ── inbox and view ──
  `create table source_inbox (
    intent_id text not null references intent (id),
    namespace text not null,
    reference text not null,
    address text not null,
    issued_at timestamptz not null,
    primary key (intent_id, namespace, reference)
  )`,
  `create table view_hint (
    intent_id text not null references intent (id),
    namespace text not null,
    reference text not null,
    token text not null,
    expires_at timestamptz not null,
    primary key (intent_id, namespace, reference, token)
  )`,
  `create index view_hint_expiry on view_hint (expires_at)`,

  // ── watch: how far each chain is read, its recent blocks, and every movement in or out of an inbox ──
  `create table chain_cursor (
    chain text primary key,
    genesis_hash text not null,
    number bigint not null,
    hash text not null,
    safe_number bigint not null default -1,
    finalized_number bigint not null default -1,
    reread_number bigint not null,
    revision bigint not null default 0,
    updated_at timestamptz not null
  )`,
  `create table block (
    chain text not null,
    hash text not null,
    number bigint not null,
    parent_hash text not null,
    orphaned_at timestamptz,
    primary key (chain, hash)
  )`,
  `create unique index block_canonical on block (chain, number) where orphaned_at is null`,
  // A contract may pay somebody else, or in another token, when a reorg runs its transaction again: that is another movement, not
  // the same one changed. What stands at a place on the branch that was left stays there, orphaned.
  `create table movement (
    id bigint generated always as identity primary key,
    chain text not null,
    chain_tx text not null,
    position int not null check (position >= 0),
    direction text not null check (direction in ('in','out')),
    intent_id text not null references intent (id),
    inbox text not null,
    token text not null,
    counterparty text not null,
    amount_units ${AMOUNT} not null check (amount_units >= 0),
    block_number bigint not null,
    block_hash text not null,
    log_index int not null,
    revision bigint not null,
    explained_by text,
    seen_at timestamptz not null,
    orphaned_at timestamptz,
    unique (chain, chain_tx, position, direction, inbox, token)
  )`,
  `create index movement_handover on movement (chain, direction, revision, id)`,
  `create index movement_of_inbox on movement (intent_id, chain, token, block_number, log_index)`,
  `create index movement_by_block on movement (chain, block_number)`,

  // ── settlement stands before deposit only because a deposit names the sweep that took it ──
  `create table settlement (
    id text primary key,
    seq bigint generated always as identity unique,
    intent_id text not null references intent (id),
    chain text not null,
    token text not null,
    status text not null check (status in ('planned','submitted','bridging','landed','held','failed')),
    gross_units ${AMOUNT} check (gross_units >= 0),
    fee_units ${AMOUNT} check (fee_units >= 0),
    route_cost_units ${AMOUNT} check (route_cost_units >= 0),
    net_units ${AMOUNT} check (net_units >= 0),
    reason text,
    sending_id bigint references sending (id),
    chain_tx text,
    block_number bigint,
    attempts int not null default 0,
    retry_at timestamptz,
    created_at timestamptz not null,
    submitted_at timestamptz,
    landed_at timestamptz,
    updated_at timestamptz not null,
    check (gross_units is null or gross_units = fee_units + route_cost_units + net_units),
    check (status <> 'landed' or (gross_units is not null and chain_tx is not null and landed_at is not null)),
    check (status <> 'submitted' or sending_id is not null),
    check (status not in ('held','failed') or reason is not null)
  )`,
  `create unique index settlement_open on settlement (intent_id, chain, token)
    where status in ('planned','submitted','bridging','held')`,
  `create index settlement_work on settlement (chain, status, retry_at) where status in ('planned','submitted','held')`,
  `create index settlement_of_intent on settlement (intent_id, seq)`,
  `create unique index settlement_chain_tx on settlement (chain, chain_tx, intent_id, token) where chain_tx is not null`,
  `create table settlement_cursor (chain text primary key, revision bigint not null, movement_id bigint not null)`,

  // ── deposit ──
  `create table deposit (
    id text primary key,
    seq bigint generated always as identity unique,
    movement_id bigint not null unique references movement (id),
    intent_id text not null references intent (id),
    chain text not null,
    token text not null,
    token_decimals int not null,
    sender text not null,
    amount_units ${AMOUNT} not null check (amount_units >= 0),
    counted_units ${AMOUNT} not null default 0 check (counted_units >= 0),
    status text not null check (status in ('seen','confirmed','counted','held','dropped')),
    reason text,
    late boolean not null default false,
    chain_tx text not null,
    position int not null,
    block_number bigint not null,
    block_hash text not null,
    required_confirmations int,
    settlement_id text references settlement (id),
    seen_at timestamptz not null,
    confirmed_at timestamptz,
    counted_at timestamptz,
    updated_at timestamptz not null,
    unique (chain, chain_tx, position, intent_id, token),
    check ((status = 'counted') = (counted_at is not null)),
    check (status = 'counted' or counted_units = 0),
    check (status not in ('held','dropped') or reason is not null)
  )`,
  `create index deposit_pending on deposit (chain, block_number) where status = 'seen'`,
  `create index deposit_unswept on deposit (chain, token, intent_id) where status = 'counted' and settlement_id is null`,
  `create index deposit_open on deposit (intent_id) where status in ('seen','confirmed')`,
  `create index deposit_of_intent on deposit (intent_id, seq)`,
  `create index deposit_recent on deposit (intent_id, chain, block_number)`,
  `create index deposit_of_settlement on deposit (settlement_id) where settlement_id is not null`,
  `create table deposit_cursor (chain text primary key, revision bigint not null, movement_id bigint not null)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
