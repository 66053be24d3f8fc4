import { sql, type Kysely } from "kysely";

// Dust has no deposit row: a stranger pays thousands of times less for a tiny transfer than for a deposit. An inbox holds the sums of its
// dust in one row, and a view shows each transfer beside the deposits. The same row says what of the inbox waits to be settled, so that
// planning reads inboxes that are due and no others.

const AMOUNT = "numeric(78,0)";

const statements: readonly string[] = [
  `create table holding (
    intent_id text not null references intent (id),
    chain text not null,
    token text not null,
    dust_from bigint,
    is_stale boolean not null default false,
    dust_block bigint not null default -1,
    waiting_count bigint not null default 0 check (waiting_count >= 0),
    waiting_units ${AMOUNT} not null default 0 check (waiting_units >= 0),
    waiting_held_units ${AMOUNT} not null default 0 check (waiting_held_units between 0 and waiting_units),
    counted_block bigint not null default -1,
    dust_count bigint not null default 0 check (dust_count >= 0),
    dust_units ${AMOUNT} not null default 0 check (dust_units >= 0),
    dust_held_units ${AMOUNT} not null default 0 check (dust_held_units between 0 and dust_units),
    dust_counted_at timestamptz,
    verified_block bigint not null default -1,
    verify_from timestamptz,
    unswept_units ${AMOUNT} not null default 0 check (unswept_units >= 0),
    unswept_since timestamptz,
    due_from timestamptz,
    primary key (intent_id, chain, token),
    check (counted_block <= dust_block),
    check ((unswept_units = 0) = (unswept_since is null)),
    check (due_from is null or unswept_units > 0)
  )`,
  `create index holding_dust on holding (chain, dust_from) where dust_from is not null`,
  `create index holding_summed on holding (chain, dust_block) where dust_block >= 0`,
  `create index holding_stale on holding (chain) where is_stale`,
  `create index holding_unverified on holding (chain, verify_from) where verify_from is not null`,
  `create index holding_due on holding (chain, due_from) where due_from is not null`,
  // Inboxes with counted money before this table existed.
  `insert into holding (intent_id, chain, token, unswept_units, unswept_since, due_from)
    select deposit.intent_id, deposit.chain, deposit.token, sum(deposit.amount_units), min(deposit.counted_at),
      case when not exists (select from settlement where settlement.intent_id = deposit.intent_id and settlement.chain = deposit.chain
          and settlement.token = deposit.token and settlement.status in ('planned','submitted','bridging','held'))
        and (sum(deposit.amount_units) >= min(intent.minimum_units) or min(intent.price_token_units) >= min(intent.minimum_units)
          and min(intent.settled_units) * 10000 < min(intent.price_token_units) * (10000 - min(intent.underpay_tolerance_bps)))
        then min(deposit.counted_at) end
    from deposit join intent on intent.id = deposit.intent_id
    where deposit.status = 'counted' and deposit.settlement_id is null and deposit.amount_units > 0
    group by deposit.intent_id, deposit.chain, deposit.token`,

  `drop index deposit_unswept`,
  `create index deposit_unswept on deposit (intent_id, chain, token) where status = 'counted' and settlement_id is null`,

  // ── what a reorganisation took from blocks whose dust is summed already ──
  `alter table chain_cursor add column rewound_number bigint`,

  // ── movement: a page of an inbox, and what of an intent is not processed yet ──
  `create index movement_page on movement (intent_id, id desc) include (chain, revision) where direction = 'in'`,
  `create index movement_revision_of_intent on movement (intent_id, chain, revision, id) where direction = 'in'`,
  `create index movement_out_of_inbox on movement (intent_id, chain, token, block_number, place)
    where direction = 'out' and orphaned_at is null`,

  `create view listed_deposit as
    select deposit.id, movement.id as movement_id, movement.intent_id, movement.chain, movement.token,
      deposit.token_decimals, coalesce(deposit.sender, movement.counterparty) as sender,
      coalesce(deposit.amount_units, movement.amount_units) as amount_units,
      coalesce(deposit.counted_units, case when movement.orphaned_at is null and movement.block_number <= holding.counted_block
        then movement.amount_units else 0 end) as counted_units,
      coalesce(deposit.status, case when movement.orphaned_at is not null then 'dropped' when holding.intent_id is null then 'held'
        when movement.block_number <= holding.counted_block then 'counted'
        when movement.block_number <= holding.dust_block then 'confirmed' else 'seen' end) as status,
      case when deposit.id is not null then deposit.reason when movement.orphaned_at is not null then 'reorg'
        when holding.intent_id is null then 'no_route'
        when movement.block_number > holding.counted_block and movement.block_number <= holding.dust_block then 'below_minimum'
        end as reason,
      deposit.late,
      movement.chain_tx, movement.identity, coalesce(deposit.block_number, movement.block_number) as block_number,
      coalesce(deposit.block_hash, movement.block_hash) as block_hash, deposit.required_confirmations,
      case when deposit.id is not null then deposit.settlement_id when movement.orphaned_at is null and holding.intent_id is not null then (
        select (
          select settlement.id from settlement where settlement.chain = departure.chain and settlement.chain_tx = departure.chain_tx
            and settlement.intent_id = departure.intent_id and settlement.token = departure.token and settlement.status = 'landed')
        from movement departure
        where departure.intent_id = movement.intent_id and departure.chain = movement.chain and departure.token = movement.token
          and departure.direction = 'out' and departure.orphaned_at is null
          and (departure.block_number, departure.place) > (movement.block_number, movement.place)
        order by departure.block_number, departure.place limit 1) end as settlement_id,
      coalesce(deposit.seen_at, movement.seen_at) as seen_at,
      coalesce(deposit.counted_at, case when movement.orphaned_at is null and movement.block_number <= holding.counted_block
        then holding.dust_counted_at end) as counted_at
    from movement left join deposit on deposit.movement_id = movement.id
    left join holding on holding.intent_id = movement.intent_id and holding.chain = movement.chain and holding.token = movement.token
    left join deposit_cursor taken on taken.chain = movement.chain
    where movement.direction = 'in' and (deposit.id is not null
      or (movement.revision, movement.id) <= (coalesce(taken.revision, 0), coalesce(taken.movement_id, 0)))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
