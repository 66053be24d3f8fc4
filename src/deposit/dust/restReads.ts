import { sql, type RawBuilder } from "kysely";
import { assetSql } from "../../ledger/assetSql.ts";
import { isNamedByUnreadable } from "../../watch/unreadable/unreadableStore.ts";

// What the last sweep left in its inbox. A bridge takes only so much in one burn, a recovery key may take a part, and
// where a chain shows only balances, a transaction may move more in after it moved out. The inbox holds the rest
// without a further deposit.

/** SQL for the movements of an inbox that the chain shows, on the side of a place that `isAsked` names. */
const sumOfInbox = (holding: RawBuilder<unknown>, isAsked: RawBuilder<boolean>) => sql`
  (select coalesce(sum(case movement.direction when 'in' then movement.amount_units else -movement.amount_units end), 0)
  from movement where movement.intent_id = ${holding}.intent_id and movement.chain = ${holding}.chain
    and movement.token = ${holding}.token and movement.orphaned_at is null and ${isAsked})`;

/**
 * SQL for the movements from a block on. With both ends the planner takes the range for small, and uses the index of
 * the inbox, also where one inbox has most movements of the table.
 */
const isFrom = (block: RawBuilder<unknown>) =>
  sql<boolean>`movement.block_number >= ${block} and movement.block_number <= 9223372036854775807`;

/**
 * SQL for what the last transfer out of an inbox left in it: what the ledger shows now, without what came in since. So
 * it reads the movements that are not booked yet and those after that transfer, and none of the inbox's history.
 */
export const lastRestOf = (holding: RawBuilder<unknown>) => sql`
  select last.block_number, last.place, last.seen_at, greatest(0, (
      select coalesce(sum(balance_units), 0) from ledger_balance
      where holder = 'inbox:' || ${holding}.intent_id and asset = ${assetSql(sql`${holding}.chain`, sql`${holding}.token`)})
    + ${sumOfInbox(holding, isFrom(sql`last.booked_number + 1`))}
    - ${sumOfInbox(holding, sql`${isFrom(sql`last.block_number`)} and (movement.block_number, movement.place) > (last.block_number, last.place)`)}
    ) as units
  from (
    select departure.block_number, departure.place, departure.seen_at, chain_cursor.booked_number
    from movement departure join chain_cursor on chain_cursor.chain = departure.chain
    where departure.intent_id = ${holding}.intent_id and departure.chain = ${holding}.chain and departure.token = ${holding}.token
      and departure.direction = 'out' and departure.orphaned_at is null
    order by departure.block_number desc, departure.place desc limit 1
  ) as last`;

/** Arrivals read for one rest. What is older counts: it is deep below the sweep. */
const ARRIVALS_MAX = 16;

/** SQL for the counted part of what a sweep left in the inbox of `holding`. A sweep takes what came first. */
export const COUNTED_REST = sql`
  select holding.rest_units - coalesce(sum(least(arrival.amount_units, holding.rest_units - arrival.later_units)), 0) as units
  from (
    select read.amount_units, sum(read.amount_units) over (order by read.block_number desc, read.place desc) - read.amount_units as later_units,
      coalesce(deposit.status = 'counted', read.block_number <= holding.counted_block) as is_counted
    from (
      select id, amount_units, block_number, place from movement
      where movement.intent_id = holding.intent_id and movement.chain = holding.chain and movement.token = holding.token
        and movement.direction = 'in' and movement.orphaned_at is null
        and (movement.block_number, movement.place) < (holding.rest_block, holding.rest_place)
      order by block_number desc, place desc limit ${sql.lit(ARRIVALS_MAX)}
    ) as read left join deposit on deposit.movement_id = read.id
  ) as arrival where arrival.later_units < holding.rest_units and not arrival.is_counted`;

/**
 * SQL for whether a holding's money is only what a sweep left, and something unreadable names its inbox. No deposit
 * shows a rest: it is the difference of what is recorded, and wrong while not everything is. So it waits.
 */
export const IS_DOUBTFUL_REST = sql<boolean>`
  (holding.rest_counted_units > 0 and holding.rest_counted_units = holding.unswept_units
    and ${isNamedByUnreadable("holding")})`;
