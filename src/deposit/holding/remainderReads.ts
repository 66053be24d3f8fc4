import { sql, type RawBuilder } from "kysely";
import { assetSql } from "../../ledger/assetSql.ts";
import { IS_UNDECIDED } from "../deposit.ts";
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
 * SQL for the movements of some blocks. With both ends the planner takes the range for small, and uses the index of the
 * inbox, also where one inbox has most movements of the table.
 */
const isBetween = (first: RawBuilder<unknown>, last: RawBuilder<unknown>) =>
  sql<boolean>`movement.block_number >= ${first} and movement.block_number <= ${last}`;

const IS_AFTER_LAST = sql<boolean>`(movement.block_number, movement.place) > (last.block_number, last.place)`;

/**
 * SQL for what the last transfer out of an inbox left in it: what the ledger shows, moved to the place of that transfer.
 * So it reads only the movements between the newest booked block and that place, in the one direction or the other.
 */
export const lastRemainderOf = (holding: RawBuilder<unknown>) => sql`
  select last.block_number, last.place, last.seen_at, greatest(0, (
      select coalesce(sum(balance_units), 0) from ledger_balance
      where holder = 'inbox:' || ${holding}.intent_id and asset = ${assetSql(sql`${holding}.chain`, sql`${holding}.token`)})
    + ${sumOfInbox(holding, sql`${isBetween(sql`last.booked_number + 1`, sql`last.block_number`)} and not ${IS_AFTER_LAST}`)}
    - ${sumOfInbox(holding, sql`${isBetween(sql`last.block_number`, sql`last.booked_number`)} and ${IS_AFTER_LAST}`)}
    ) as units
  from (
    select departure.block_number, departure.place, departure.seen_at, chain_cursor.booked_number
    from movement departure join chain_cursor on chain_cursor.chain = departure.chain
    where departure.intent_id = ${holding}.intent_id and departure.chain = ${holding}.chain and departure.token = ${holding}.token
      and departure.direction = 'out' and departure.orphaned_at is null
    order by departure.block_number desc, departure.place desc limit 1
  ) as last`;

/** Arrivals read for one rest. Older ones are not read: they count as far as nothing before them still waits. */
const ARRIVALS_MAX = 16;

/**
 * SQL for what may not count among the arrivals before those that were read: deposits that are not decided, of which an
 * index has a few, and dust. While some of that dust is in no sum yet, all of it.
 */
const UNCOUNTED_BEFORE = sql`
  case when newer.count < ${sql.lit(ARRIVALS_MAX)} then 0
    when holding.is_stale or holding.dust_from <= newer.block_number then holding.rest_units
    else holding.waiting_units + coalesce((
      select sum(deposit.amount_units) from deposit
      where deposit.intent_id = holding.intent_id and deposit.chain = holding.chain and deposit.token = holding.token
        and ${IS_UNDECIDED} and deposit.block_number <= newer.block_number), 0) end`;

/** SQL for the counted part of what a sweep left in the inbox of `holding`. A sweep takes what came first. */
export const COUNTED_REMAINDER = sql`
  select greatest(0, holding.rest_units - newer.uncounted_units
    - least(greatest(0, holding.rest_units - newer.units), ${UNCOUNTED_BEFORE})) as units
  from (select count(*) as count, coalesce(sum(arrival.amount_units), 0) as units, min(arrival.block_number) as block_number,
      coalesce(sum(least(arrival.amount_units, holding.rest_units - arrival.later_units))
        filter (where arrival.later_units < holding.rest_units and not arrival.is_counted), 0) as uncounted_units
  from (
    select read.amount_units, read.block_number, sum(read.amount_units) over (order by read.block_number desc, read.place desc) - read.amount_units as later_units,
      coalesce(deposit.status = 'counted', read.block_number <= holding.counted_block) as is_counted
    from (
      select id, amount_units, block_number, place from movement
      where movement.intent_id = holding.intent_id and movement.chain = holding.chain and movement.token = holding.token
        and movement.direction = 'in' and movement.orphaned_at is null
        and (movement.block_number, movement.place) < (holding.rest_block, holding.rest_place)
      order by block_number desc, place desc limit ${sql.lit(ARRIVALS_MAX)}
    ) as read left join deposit on deposit.movement_id = read.id
  ) as arrival) as newer`;

/**
 * SQL for whether a holding's money is only what a sweep left, and something unreadable names its inbox. No deposit
 * shows a rest: it is the difference of what is recorded, and wrong while not everything is. So it waits.
 */
export const IS_DOUBTFUL_REMAINDER = sql<boolean>`
  (holding.rest_counted_units > 0 and holding.rest_counted_units = holding.unswept_units
    and ${isNamedByUnreadable("holding")})`;
