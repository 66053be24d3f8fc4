import { sql, type RawBuilder } from "kysely";
import { eventsExpiredBefore, eventTypesOf } from "../event/store.ts";
import { reachesPrice } from "../intent/paymentStatus.ts";
import { PRICE_DECIMALS } from "../kernel/units.ts";
import type { Check } from "../ledger/check.ts";

/** Whether the deposit station has processed the movement's latest revision; until then the deposit may lag. */
const IS_PROCESSED = sql`(movement.revision, movement.id) <= (deposit_cursor.revision, deposit_cursor.movement_id)`;

export const depositTotalsCheck: Check = {
  name: "intent-totals-match-deposits",
  meaning:
    "An intent's counted amount, pending count or amount held for agreement differs from its deposits and its dust.",
  query: sql`
    select intent.id as intent, intent.counted_units as counted, sums.counted as of_deposits, dust.counted as of_dust,
      intent.pending_count as pending, sums.pending as pending_of_deposits,
      intent.agreement_units as held, sums.held as held_of_deposits
    from intent left join (
      select deposit.intent_id, sum(deposit.counted_units) filter (where deposit.status = 'counted') as counted,
        count(*) filter (where deposit.status = 'seen') as pending,
        sum(div(deposit.amount_units * power(10::numeric, paid.payout_decimals), power(10::numeric, deposit.token_decimals)))
          filter (where deposit.status = 'held' and deposit.reason in ('provider_disagreement', 'provider_agreement_pending')) as held
      from deposit join intent as paid on paid.id = deposit.intent_id group by deposit.intent_id) as sums on sums.intent_id = intent.id
    left join (select intent_id, sum(dust_units) as counted from holding group by intent_id) as dust on dust.intent_id = intent.id
    where intent.counted_units <> coalesce(sums.counted, 0) + coalesce(dust.counted, 0)
      or intent.pending_count <> coalesce(sums.pending, 0)
      or intent.agreement_units <> coalesce(sums.held, 0)`,
};

/** What a deposit is worth in millionths of the payout currency. */
const PRICE_UNITS = sql`div(other.amount_units * power(10::numeric, ${PRICE_DECIMALS}::int4), power(10::numeric, other.token_decimals))`;

/**
 * SQL: whether `other` was final by the next stricter rule of its chain when it counted. It exposed nothing from then
 * on, so it concerns no deposit, whatever the clock said about their order.
 */
const WAS_STRICTLY_FINAL = sql`coalesce(other.block_number <= coalesce(other.counted_next_block, other.counted_final_block), false)`;

/** SQL: what reorgs of its own chain could still take of what counted before a deposit. */
const exposedHere = (deposit: RawBuilder<unknown>) => sql`
  select coalesce(sum(${PRICE_UNITS}), 0) as units
  from deposit other where ${deposit}.counted_limit_units is not null
    and other.intent_id = ${deposit}.intent_id and other.chain = ${deposit}.chain and other.status = 'counted'
    and other.block_number > ${deposit}.counted_next_block and not ${WAS_STRICTLY_FINAL}
    and (other.counted_at < ${deposit}.counted_at or other.counted_at = ${deposit}.counted_at
      and (other.counted_final_block, other.counted_next_block) = (${deposit}.counted_final_block, ${deposit}.counted_next_block))
    and (other.counted_limit_units is distinct from ${deposit}.counted_limit_units
      or other.counted_final_block <= ${deposit}.counted_final_block)`;

/** SQL: the same of the intent's other chains. `together`: of what counted in the same instant. */
const exposedElsewhere = (deposit: RawBuilder<unknown>) => sql`
  select coalesce(sum(${PRICE_UNITS}) filter (where other.counted_at < ${deposit}.counted_at), 0) as units,
    coalesce(sum(${PRICE_UNITS}) filter (where other.counted_at = ${deposit}.counted_at), 0) as together
  from (select distinct holding.chain from holding where ${deposit}.counted_limit_units is not null
    and holding.intent_id = ${deposit}.intent_id and holding.chain <> ${deposit}.chain) as away
  join deposit other on other.intent_id = ${deposit}.intent_id and other.chain = away.chain and other.status = 'counted'
    and other.block_number > coalesce((${deposit}.counted_elsewhere::json ->> away.chain)::int8, -1)
    and other.counted_at <= ${deposit}.counted_at
    and not ${WAS_STRICTLY_FINAL}
    and coalesce((other.counted_elsewhere::json ->> ${deposit}.chain)::int8, -1) <= ${deposit}.counted_next_block`;

/**
 * Those of the deposits that counted above the last block that was final by their chain's rule, or by a rule for smaller
 * sums than what reorgs of all chains of the intent could still take. Both are judged by what the deposit itself stored
 * when it counted, so a later reorganisation or configuration changes nothing. Of deposits that counted in the same
 * instant, those by another head came later. Whatever a clock that stepped back says, those also came later that saw a
 * later block of the deposit's chain. A chain of which the deposit stored nothing counts as not final at all: a decision
 * that did not see it shows here. Of deposits that counted in the same instant on several chains one was the last, and
 * its rule holds with all the others: where it holds for none of them, they counted without each other.
 */
export const selectCountedEarly = (deposits: RawBuilder<unknown>) => sql<{
  deposit: string;
  intent: string;
  chain: string;
}>`
  select deposit.id as deposit, deposit.intent_id as intent, deposit.chain, deposit.block_number as block,
    deposit.counted_final_block as final_block, here.units + elsewhere.units as exposed, deposit.counted_limit_units as "limit"
  from (${deposits}) as deposit
  cross join lateral (${exposedHere(sql`deposit`)}) as here
  cross join lateral (${exposedElsewhere(sql`deposit`)}) as elsewhere
  where deposit.status = 'counted' and (deposit.block_number > deposit.counted_final_block
    or here.units + elsewhere.units > deposit.counted_limit_units
    or elsewhere.together > 0 and here.units + elsewhere.units + elsewhere.together > deposit.counted_limit_units and not exists (
      select from deposit peer cross join lateral (${exposedHere(sql`peer`)}) as near
      cross join lateral (${exposedElsewhere(sql`peer`)}) as far
      where peer.intent_id = deposit.intent_id and peer.counted_at = deposit.counted_at and peer.status = 'counted'
        and (near.units + far.units + far.together > peer.counted_limit_units) is not true))`;

export const depositChecks: readonly Check[] = [
  {
    name: "sweep-empties-inbox",
    meaning: "A sweep moved another amount out of an inbox than arrived since the sweep before, or a burn moved more.",
    // Inboxes with an undecided deposit are exempt: a single provider may have invented it, and its status reports
    // that.
    query: sql`
      with running as (
        select movement.intent_id, movement.chain, movement.token, movement.chain_tx, movement.direction, movement.explained_by,
          sum(case movement.direction when 'in' then movement.amount_units else -movement.amount_units end) over (
            partition by movement.intent_id, movement.chain, movement.token
            order by movement.block_number, movement.place, movement.direction) as left_units,
          row_number() over (
            partition by movement.intent_id, movement.chain, movement.token, movement.chain_tx, movement.direction
            order by movement.place desc) as place_from_last
        from movement join chain_cursor on chain_cursor.chain = movement.chain
        where movement.orphaned_at is null and movement.block_number <= chain_cursor.reread_number
      ), undecided as (
        select movement.intent_id, movement.chain, movement.token
        from movement left join deposit on deposit.movement_id = movement.id
        left join deposit_cursor on deposit_cursor.chain = movement.chain
        left join holding on holding.intent_id = movement.intent_id and holding.chain = movement.chain and holding.token = movement.token
        where movement.direction = 'in' and movement.orphaned_at is null and movement.explained_by is null and (
          deposit.id is null and (${IS_PROCESSED} is not true or movement.block_number > holding.dust_block)
          or deposit.status in ('seen', 'confirmed', 'dropped')
          or deposit.reason in ('provider_disagreement', 'provider_agreement_pending'))
      )
      select intent_id as intent, chain, token, chain_tx, left_units as "left" from running
      where (left_units < 0 or (direction = 'out' and place_from_last = 1 and left_units <> 0 and explained_by is null))
        and (intent_id, chain, token) not in (select intent_id, chain, token from undecided)`,
  },
  depositTotalsCheck,
  {
    name: "deposit-matches-movement",
    meaning: "A processed movement into an inbox has no deposit although it is not dust, or differs from its deposit.",
    query: sql`
      select movement.id as movement, deposit.id as deposit, movement.amount_units as moved, deposit.amount_units as units
      from movement join deposit_cursor on deposit_cursor.chain = movement.chain
      join intent on intent.id = movement.intent_id
      left join deposit on deposit.movement_id = movement.id
      where movement.direction = 'in' and ${IS_PROCESSED} and (
        deposit.id is null and movement.explained_by is null and movement.token = intent.payout_token
          and movement.chain = intent.payout_namespace || ':' || intent.payout_chain_reference
          and (movement.amount_units >= intent.minimum_units
            or ${reachesPrice(sql`movement.amount_units`)})
        or (deposit.intent_id, deposit.chain, deposit.token, deposit.chain_tx, deposit.identity)
          <> (movement.intent_id, movement.chain, movement.token, movement.chain_tx, movement.identity)
        or (movement.orphaned_at is null and (deposit.amount_units, deposit.block_number, deposit.block_hash)
          <> (movement.amount_units, movement.block_number, movement.block_hash)))`,
  },
  {
    name: "deposit-counted-by-its-rule",
    meaning:
      "A deposit counted above the last block that was final by its chain's rule, or by a rule for smaller sums.",
    query: selectCountedEarly(sql`select * from deposit`),
  },
  {
    name: "deposit-on-canonical-chain",
    meaning:
      "A deposit that is not dropped is in an orphaned block or was given by a bridge, or a dropped deposit is on the canonical chain.",
    query: sql`
      select deposit.id as deposit, deposit.status, deposit.chain, deposit.block_number, deposit.block_hash
      from deposit join movement on movement.id = deposit.movement_id
      join deposit_cursor on deposit_cursor.chain = movement.chain
      where ${IS_PROCESSED} and ((deposit.status = 'dropped') <> (movement.orphaned_at is not null or movement.explained_by is not null) or (deposit.status = 'counted'
        and exists (select from block where block.chain = deposit.chain and block.number = deposit.block_number
          and block.hash <> deposit.block_hash and block.orphaned_at is null)))`,
  },
  {
    name: "dust-matches-movements",
    meaning: "The sums of an inbox's dust differ from its movements.",
    query: sql`
      select holding.intent_id as intent, holding.chain, holding.token, holding.waiting_units as waiting, sums.waiting as waiting_of_movements,
        holding.dust_units as counted, sums.counted as counted_of_movements
      from holding join chain_cursor on chain_cursor.chain = holding.chain
      join deposit_cursor on deposit_cursor.chain = holding.chain
      left join lateral (
        select count(*) filter (where movement.block_number > holding.counted_block) as waiting_count,
          coalesce(sum(movement.amount_units) filter (where movement.block_number > holding.counted_block), 0) as waiting,
          count(*) filter (where movement.block_number <= holding.counted_block) as count,
          coalesce(sum(movement.amount_units) filter (where movement.block_number <= holding.counted_block), 0) as counted
        from movement left join deposit on deposit.movement_id = movement.id
        where movement.intent_id = holding.intent_id and movement.chain = holding.chain and movement.token = holding.token
          and movement.direction = 'in' and movement.orphaned_at is null and movement.explained_by is null
          and movement.block_number <= holding.dust_block
          and deposit.id is null
      ) as sums on true
      where not holding.is_stale and chain_cursor.rewound_number is null
        and not exists (
          select from movement where movement.intent_id = holding.intent_id and movement.chain = holding.chain
            and movement.direction = 'in' and not ${IS_PROCESSED})
        and (holding.waiting_count - holding.late_count, holding.waiting_units - holding.late_units,
            holding.dust_count + holding.late_count, holding.dust_units + holding.late_units)
          is distinct from (sums.waiting_count, sums.waiting, sums.count, sums.counted)`,
  },
  {
    name: "holding-matches-deposits",
    meaning:
      "The counted money that an inbox holds differs from its counted deposits, dust, rest and mints in suspense that no sweep took.",
    query: sql`
      select coalesce(holding.intent_id, sums.intent_id) as intent, coalesce(holding.chain, sums.chain) as chain,
        holding.unswept_units as held, sums.units as of_deposits, holding.dust_held_units as of_dust,
        holding.rest_counted_units as of_rest
      from holding full join (
        select intent_id, chain, token, sum(amount_units) as units from deposit
        where status = 'counted' and settlement_id is null group by intent_id, chain, token
      ) as sums on (sums.intent_id, sums.chain, sums.token) = (holding.intent_id, holding.chain, holding.token)
      where coalesce(holding.unswept_units, 0) <> coalesce(sums.units, 0) + coalesce(holding.dust_held_units, 0)
        + coalesce(holding.rest_counted_units, 0) + coalesce(holding.suspense_units, 0)`,
  },
  {
    name: "deposit-has-event",
    meaning: "The last event of a deposit differs from its status.",
    query: sql`
      with last_event as (
        select distinct on (content ->> 0) 'dep_' || (content ->> 0) as deposit_id, type_of.name as type
        from event join ${eventTypesOf("deposit.")} on type_of.number = event.type order by content ->> 0, position desc
      )
      select deposit.id as deposit, deposit.status, last_event.type as told
      from deposit left join last_event on last_event.deposit_id = deposit.id
      where (last_event.type is null and deposit.seen_at > ${eventsExpiredBefore})
        or (deposit.status in ('counted','held','dropped') and last_event.type <> 'deposit.' || deposit.status)`,
  },
];
