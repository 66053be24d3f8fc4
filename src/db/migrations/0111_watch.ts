import { sql, type Kysely } from "kysely";

// What the chains show, and how far the later stations have read it.

const statements: readonly string[] = [
  `create table chain_cursor (
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
  )`,
  `create table block (
    chain text not null,
    hash text not null,
    number bigint not null,
    parent_hash text not null,
    orphaned_at timestamptz,
    timestamp_s bigint,
    constraint block_pkey primary key (chain, hash)
  )`,
  `create index block_by_number on block (chain, number)`,
  `create index block_by_time on block (chain, timestamp_s, number) where (orphaned_at is null)`,
  `create unique index block_canonical on block (chain, number) where (orphaned_at is null)`,
  `create table movement (
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
    constraint movement_pkey primary key (id),
    constraint movement_chain_chain_tx_position_direction_inbox_token_key unique (chain, chain_tx, identity, direction, inbox, token),
    constraint movement_amount_units_check check (amount_units >= 0),
    constraint movement_bridge_fee_is_explained check ((((bridge_fee_units is null) = (explained_by is null)) and ((bridge_fee_units is null) or (bridge_fee_units = 0) or ((direction = 'in') and (bridge_fee_units > 0))))),
    constraint movement_direction_check check (direction in ('in', 'out')),
    constraint movement_fee_is_of_batch check ((((fee_units is null) = (batch_place is null)) and ((fee_units is null) = (batch_fee_units is null)) and ((fee_units is null) or ((direction = 'out') and ((fee_units >= 0) and (fee_units <= amount_units)) and (fee_units <= batch_fee_units))))),
    constraint movement_identity_check check (identity <> ''),
    constraint movement_place_check check (place >= 0)
  )`,
  `create index movement_by_block on movement (((chain || '')), block_number)`,
  `create index movement_crossing on movement (intent_id, chain, token, block_number, place) where (explained_by is not null)`,
  `create index movement_handover on movement ((((chain || ' ') || direction)), revision, id)`,
  `create index movement_in_suspense on movement (intent_id, chain, token) where in_suspense`,
  `create index movement_mint on movement (chain, explained_by) where ((explained_by is not null) and (direction = 'in'))`,
  `create index movement_of_inbox on movement (intent_id, chain, token, block_number, place)`,
  `create index movement_out_of_inbox on movement (intent_id, chain, token, block_number, place) where ((direction = 'out') and (orphaned_at is null))`,
  `create index movement_page on movement (((intent_id || '')), id desc) include (intent_id, chain, revision) where (direction = 'in')`,
  `create index movement_revision_of_intent on movement ((((intent_id || ' ') || chain)), revision, id) where (direction = 'in')`,
  `create table settlement_cursor (
    chain text not null,
    revision bigint not null,
    movement_id bigint not null,
    constraint settlement_cursor_pkey primary key (chain)
  )`,
  `create table deposit_cursor (
    chain text not null,
    revision bigint not null,
    movement_id bigint not null,
    constraint deposit_cursor_pkey primary key (chain)
  )`,
  // An intent whose movements a station could not process. The station processes the other intents, and retries this
  // one later.
  `create table quarantine (
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
  )`,
  `create index quarantine_due on quarantine (station, chain, retry_at)`,
  // One pass over a chain's inboxes that compares their balances with the ledger, and the last complete one.
  `create table balance_pass (
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
  )`,
  // An inbox whose balance on the chain is not that of the ledger.
  `create table balance_difference (
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
    constraint balance_difference_check check (ledger_units <> chain_units),
    constraint balance_difference_intent_id_fkey foreign key (intent_id) references intent(id)
  )`,
  // A mint of an inbox's own burn that no crossing explains yet.
  `create table awaited_burn (
    mint_id bigint not null,
    bridge text not null,
    searched_number bigint,
    lowest_number bigint,
    attempts integer default 0 not null,
    next_at timestamptz not null,
    unexplained_since timestamptz not null,
    settle_chain text not null,
    suspended_at timestamptz,
    constraint awaited_burn_pkey primary key (mint_id),
    constraint awaited_burn_mint_id_fkey foreign key (mint_id) references movement(id)
  )`,
  `create index awaited_burn_due on awaited_burn (bridge, next_at)`,
  `create index awaited_burn_suspended on awaited_burn (settle_chain, suspended_at) where (suspended_at is not null)`,
  `create index awaited_burn_unexplained on awaited_burn (settle_chain, unexplained_since) where (suspended_at is null)`,
  // What every provider of a chain answers alike, no reader can parse, and names an inbox or the program that empties
  // inboxes.
  `create table unreadable (
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
  )`,
  `create index unreadable_due on unreadable (chain, retry_at)`,
  `create index unreadable_inboxes on unreadable using gin (inboxes)`,
  // How many such entries of a chain have no row, because it has too many.
  `create table unreadable_overflow (
    chain text not null,
    left_out bigint not null,
    last_seen_at timestamptz not null,
    constraint unreadable_overflow_pkey primary key (chain),
    constraint unreadable_overflow_left_out_check check (left_out > 0)
  )`,
  `create function movement_stays_of_its_inbox()
   returns trigger
   language plpgsql
  as $function$
      begin
        raise exception 'movement % stays that of its inbox', old.id using errcode = 'integrity_constraint_violation';
      end $function$`,
  `create function movements_are_of_their_inbox()
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
      end $function$`,
  `create trigger movement_stays_of_its_inbox before update of intent_id, inbox on movement for each row execute function movement_stays_of_its_inbox()`,
  `create trigger movements_are_of_their_inbox after insert on movement referencing new table as fresh for each statement execute function movements_are_of_their_inbox()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
