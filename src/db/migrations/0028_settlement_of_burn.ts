import { sql, type Kysely } from "kysely";

// Each burn is a settlement of its own, because each arrives on the settle chain for itself. Anybody can burn an inbox's balance several times
// in one transaction.

/** The burn in the order of the chain, so that an existing settlement keeps the first burn of its transaction. */
const FIRST_BURN = `
  select distinct on (chain, chain_tx, intent_id, token) chain, chain_tx, intent_id, token, id from movement
  where explained_by is not null and direction = 'out' order by chain, chain_tx, intent_id, token, place`;

const statements: readonly string[] = [
  `alter table settlement add column burn_id bigint references movement (id)`,
  `update settlement set burn_id = burn.id from (${FIRST_BURN}) as burn
    where burn.chain = settlement.chain and burn.chain_tx = settlement.chain_tx and burn.intent_id = settlement.intent_id
      and burn.token = settlement.token
      and (settlement.status in ('bridging','failed') or settlement.status = 'landed' and settlement.landed_chain is not null)`,
  `alter table settlement drop constraint settlement_bridges_by_transaction`,
  // Not valid: a scan of a large table would hold its lock.
  `alter table settlement add constraint settlement_bridges_a_burn check (
    (burn_id is null or chain_tx is not null) and (burn_id is not null or status <> 'bridging' and landed_chain is null)) not valid`,
  `drop index settlement_chain_tx`,
  `create unique index settlement_chain_tx on settlement (chain, chain_tx, intent_id, token, burn_id) nulls not distinct
    where chain_tx is not null`,
  `drop index crossing_of_settlement`,

  // Burns without a settlement: the settlement station processes the movements of their intents again.
  `insert into quarantine (station, chain, intent_id, revision, movement_id, reason, attempts, since, retry_at)
    select 'settlement', crossing.chain, crossing.intent_id, min(movement.revision) - 1, 0, 'several burns in one transaction', 1,
      min(crossing.created_at), min(crossing.created_at)
    from crossing join movement on movement.id = crossing.movement_id
    where not exists (
      select from settlement where settlement.chain = crossing.chain and settlement.chain_tx = crossing.chain_tx
        and settlement.intent_id = crossing.intent_id and settlement.token = crossing.token
        and settlement.burn_id = crossing.movement_id)
    group by crossing.chain, crossing.intent_id
    on conflict (station, chain, intent_id) do update
      set revision = least(quarantine.revision, excluded.revision), movement_id = 0, retry_at = excluded.retry_at`,

  // As before, but dust before a burn belongs to the settlement of this burn.
  `create or replace view listed_deposit as
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
            and settlement.intent_id = departure.intent_id and settlement.token = departure.token and settlement.status = 'landed'
            and (settlement.burn_id is null or settlement.burn_id = departure.id))
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
