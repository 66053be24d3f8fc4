import { sql, type Kysely } from "kysely";

// The id of a deposit follows from its transfer and the installation, so the list of deposits shows both for dust, which has no row.

const statements: readonly string[] = [
  // As before, with the three columns at its end.
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
        then holding.dust_counted_at end) as counted_at,
      movement.inbox, coalesce(encode(deployment.deployment_id, 'hex'), '') as deployment, deposit.required_seconds
    from movement left join deposit on deposit.movement_id = movement.id
    left join holding on holding.intent_id = movement.intent_id and holding.chain = movement.chain and holding.token = movement.token
    left join deposit_cursor taken on taken.chain = movement.chain
    left join deployment on true
    where movement.direction = 'in' and (deposit.id is not null
      or (movement.revision, movement.id) <= (coalesce(taken.revision, 0), coalesce(taken.movement_id, 0)))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
