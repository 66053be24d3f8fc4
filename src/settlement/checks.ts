import { sql } from "kysely";
import { eventsExpiredBefore, eventTypesOf } from "../event/store.ts";
import type { Check } from "../ledger/check.ts";
import { isOpenSettlement, takenUnits, UNSWEPT_OF_INTENT } from "../deposit/openSettlement.ts";
import { reachesPrice } from "../intent/paymentStatus.ts";

/** The sweep that a settlement landed with: that of its own inbox, or of the inbox on the settle chain. */
const SWEEP_CHAIN = sql`coalesce(settlement.landed_chain, settlement.chain)`;
const SWEEP_TX = sql`coalesce(settlement.landed_chain_tx, settlement.chain_tx)`;
const SWEEP_TOKEN = sql`case when settlement.landed_chain is null then settlement.token else intent.payout_token end`;

/** Each sweep with what its landed settlements received of it, several where a bridge gave a part. */
const LANDED_SWEEPS = sql`
  select settlement.intent_id, ${SWEEP_CHAIN} as chain, ${SWEEP_TOKEN} as token, ${SWEEP_TX} as chain_tx,
    max(coalesce(settlement.landed_block_number, settlement.block_number)) as block_number,
    sum(settlement.gross_units - settlement.route_cost_units) as gross_units, sum(settlement.fee_units) as fee_units
  from settlement join intent on intent.id = settlement.intent_id
  where settlement.status = 'landed' group by 1, 2, 3, 4`;

/**
 * Whether a crossing of the intent on the way to the chain is not landed, so that the settlements of a sweep may not be
 * complete.
 */
const HAS_OPEN_CROSSING = sql`exists (
  select from movement mint where mint.intent_id = swept.intent_id and mint.chain = swept.chain and mint.explained_by is not null
    and mint.direction = 'in' and mint.orphaned_at is null
    and not exists (select from crossing where crossing.settle_chain = mint.chain and crossing.mint = mint.explained_by
      and crossing.status = 'landed'))`;

export const settlementTotalsCheck: Check = {
  name: "intent-totals-match-settlements",
  meaning: "An intent's settled amount differs from the sum of its landed settlements.",
  query: sql`
    select intent.id as intent, intent.settled_units as settled, sums.gross, intent.fee_units as fee, sums.fee as fees
    from intent left join (
      select settlement.intent_id, sum(gross_units) as gross, sum(settlement.fee_units) as fee, sum(settlement.net_units) as net
      from settlement join intent on intent.id = settlement.intent_id
      where settlement.status = 'landed' and ${SWEEP_TOKEN} = intent.payout_token
        and ${SWEEP_CHAIN} = intent.payout_namespace || ':' || intent.payout_chain_reference
      group by settlement.intent_id) as sums
    on sums.intent_id = intent.id
    where (intent.settled_units, intent.fee_units, intent.net_units)
      <> (coalesce(sums.gross, 0), coalesce(sums.fee, 0), coalesce(sums.net, 0))`,
};

/** Of the days that are kept for certain. */
const daysCheck: Check = {
  name: "days-match-settlements",
  meaning: "What landed on a day differs from the sum of its settlements.",
  query: sql`
    with landed as (
      select intent.account_id, (settlement.landed_at at time zone 'UTC')::date as day, settlement.chain, settlement.token,
        count(*) as landed_count, sum(settlement.gross_units) as gross_units, sum(settlement.fee_units) as fee_units,
        sum(settlement.route_cost_units) as route_cost_units, sum(settlement.net_units) as net_units
      from settlement join intent on intent.id = settlement.intent_id where settlement.status = 'landed' group by 1, 2, 3, 4
    ), stored as (
      select account_id, day, chain, token, sum(landed_count) as landed_count, sum(gross_units) as gross_units,
        sum(fee_units) as fee_units, sum(route_cost_units) as route_cost_units, sum(net_units) as net_units
      from (
        select account_id, day, chain, token, landed_count, gross_units, fee_units, route_cost_units, net_units from settlement_day
        union all
        select account_id, day, chain, token, landed_count, gross_units, fee_units, route_cost_units, net_units
        from settlement_day_change
      ) as parts group by 1, 2, 3, 4
    )
    select account_id as account, day::text, chain, token, landed.net_units as landed, stored.net_units as stored
    from landed full join stored using (account_id, day, chain, token)
    where day > (select max(day) from landed) - 1000
      and (coalesce(landed.landed_count, 0), coalesce(landed.gross_units, 0), coalesce(landed.fee_units, 0),
          coalesce(landed.route_cost_units, 0), coalesce(landed.net_units, 0))
        <> (coalesce(stored.landed_count, 0), coalesce(stored.gross_units, 0), coalesce(stored.fee_units, 0),
          coalesce(stored.route_cost_units, 0), coalesce(stored.net_units, 0))`,
};

export const settlementChecks: readonly Check[] = [
  {
    name: "gross-equals-parts",
    meaning: "A settlement's gross amount differs from fee, net and route cost together.",
    query: sql`
      select id as settlement, gross_units as gross, route_cost_units as route_cost, fee_units as fee, net_units as net
      from settlement where gross_units is not null and gross_units is distinct from route_cost_units + fee_units + net_units`,
  },
  {
    name: "fee-matches-intent",
    meaning:
      "A settlement's fee is not what the fee recipient received, or a part of it is not the intent's share, rounded down.",
    // A provider may omit one leg of a sweep: its split is reliable once its block was reread and the settlement
    // station has processed it. One transaction may settle an inbox several times, and each time rounds down. In each
    // the payout precedes the fee. Where payout and fee recipient are the same, and where no payment of the hub is
    // known, only the most that the fee can be is checked. Until all shares of a sweep have landed, theirs together may
    // be a unit above that, because the last share takes the rest of the rounding.
    query: sql`
      select swept.intent_id as intent, swept.chain, swept.chain_tx, swept.gross_units as gross, swept.fee_units as fee,
        paid.fee_units as paid, intent.fee_bps
      from (${LANDED_SWEEPS}) as swept join intent on intent.id = swept.intent_id join chain_cursor cursor on cursor.chain = swept.chain
      cross join lateral (
        select coalesce(sum(case leg.counterparty when intent.inbox_hub then leg.fee_units
            when intent.fee_recipient then leg.amount_units end), 0) as fee_units,
          coalesce(bool_or(leg.counterparty = intent.inbox_hub and leg.fee_units is null), false) as is_unknown,
          coalesce(bool_or(leg.counterparty = intent.fee_recipient and leg.amount_units is distinct from
            div((leg.amount_units + leg.payout_units) * intent.fee_bps, 10000)), false) as is_other_share
        from (
          select movement.*, lag(movement.amount_units) over (order by movement.place) as payout_units from movement
          where movement.intent_id = swept.intent_id and movement.chain = swept.chain
            and movement.token = swept.token and movement.chain_tx = swept.chain_tx
            and movement.direction = 'out' and movement.orphaned_at is null
        ) as leg
      ) as paid
      where swept.block_number <= cursor.reread_number
        and not exists (
          select from movement join settlement_cursor taken on taken.chain = movement.chain
          where movement.intent_id = swept.intent_id and movement.chain = swept.chain
            and movement.chain_tx = swept.chain_tx and movement.direction = 'out'
            and (movement.revision, movement.id) > (taken.revision, taken.movement_id))
        and (swept.fee_units > div(swept.gross_units * intent.fee_bps, 10000) and not ${HAS_OPEN_CROSSING}
          or intent.payout_wallet <> intent.fee_recipient and not paid.is_unknown
            and (swept.fee_units > paid.fee_units or swept.fee_units < paid.fee_units and not ${HAS_OPEN_CROSSING})
          or intent.payout_wallet <> intent.fee_recipient and paid.is_other_share)`,
  },
  {
    name: "landed-matches-movements",
    meaning: "Landed settlements differ from the movements out of their inbox, rescued money excepted.",
    query: sql`
      select swept.intent_id as intent, swept.chain, swept.chain_tx, swept.gross_units as gross, sums.units as moved
      from (${LANDED_SWEEPS}) as swept left join (
        select movement.intent_id, movement.chain, movement.token, movement.chain_tx,
          coalesce(sum(movement.amount_units) filter (where movement.orphaned_at is null
            and movement.counterparty in (intent.payout_wallet, intent.fee_recipient, intent.inbox_hub)), 0) as units,
          bool_and((movement.revision, movement.id) <= (taken.revision, taken.movement_id)) as is_taken
        from movement join settlement_cursor taken on taken.chain = movement.chain
        join intent on intent.id = movement.intent_id
        where movement.direction = 'out' group by 1, 2, 3, 4
      ) as sums using (intent_id, chain, token, chain_tx)
      where coalesce(sums.is_taken, true)
        and (swept.gross_units > coalesce(sums.units, 0) or swept.gross_units < sums.units and not ${HAS_OPEN_CROSSING})`,
  },
  {
    name: "landed-sweep-is-shown",
    meaning: "A settlement landed with a sweep that no chain shows.",
    query: sql`
      select settlement.id as settlement, settlement.intent_id as intent, ${SWEEP_CHAIN} as chain, ${SWEEP_TX} as chain_tx
      from settlement where settlement.status = 'landed' and not exists (
        select from movement left join settlement_cursor taken on taken.chain = movement.chain
        where movement.intent_id = settlement.intent_id and movement.chain = ${SWEEP_CHAIN} and movement.chain_tx = ${SWEEP_TX}
          and movement.direction = 'out'
          and (movement.orphaned_at is null or (movement.revision, movement.id) > (taken.revision, taken.movement_id)))`,
  },
  {
    name: "crossing-goes-on",
    meaning: "A crossing was postponed for longer than a day. Those below the minimum wait for their turns.",
    query: sql`
      select movement_id as burn, intent_id as intent, status, reason, attempts from crossing
      where status <> 'landed' and queue < 3 and retry_at - created_at > interval '1 day'`,
  },
  settlementTotalsCheck,
  daysCheck,
  {
    name: "bridge-balance-has-settlement",
    meaning: "A bridge carries money although no settlement is bridging.",
    // What it took on one chain it gives on another, so the balances of its assets are added. A mint may be booked
    // before its burn, and a settlement lands with a sweep that is not booked yet, nor is its mint. A burn may be
    // booked before the settlement station takes it: while other providers are asked for it, or its intent is
    // quarantined, nothing is bridging.
    query: sql`
      select balance.account, sum(balance.balance_units) - given.units as units
      from ledger_balance balance cross join (
        select coalesce(sum(movement.amount_units + movement.bridge_fee_units), 0) as units
        from movement join chain_cursor on chain_cursor.chain = movement.chain
        where movement.explained_by is not null and movement.direction = 'in' and movement.orphaned_at is null
          and movement.block_number > chain_cursor.booked_number
      ) as given
      where balance.account like 'bridge:%' and not exists (select from settlement where settlement.status = 'bridging')
        and not exists (
          select from movement burn join settlement_cursor taken on taken.chain = burn.chain
          where burn.explained_by is not null and burn.direction = 'out' and burn.orphaned_at is null
            and ((burn.revision, burn.id) > (taken.revision, taken.movement_id)
              or exists (select from sweep_agreement agreement
                where agreement.chain = burn.chain and agreement.chain_tx = burn.chain_tx and agreement.intent_id = burn.intent_id
                  and agreement.token = burn.token and agreement.state = 'asking')
              or exists (select from quarantine where quarantine.intent_id = burn.intent_id and quarantine.chain = burn.chain)))
      group by balance.account, given.units having sum(balance.balance_units) > given.units`,
  },
  {
    name: "crossing-has-settlement",
    meaning: "A crossing has no settlement that lands with it.",
    query: sql`
      select crossing.movement_id as burn, crossing.intent_id as intent, crossing.status
      from crossing left join settlement on settlement.chain = crossing.chain and settlement.chain_tx = crossing.chain_tx
        and settlement.intent_id = crossing.intent_id and settlement.token = crossing.token
        and settlement.burn_id = crossing.movement_id
        and settlement.status = case crossing.status when 'landed' then 'landed' else 'bridging' end
      where settlement.id is null`,
  },
  {
    name: "rest-matches-movements",
    meaning:
      "What a holding says that the last sweep left differs from the movements up to that sweep: money may wait unplanned.",
    query: sql`
      select coalesce(holding.intent_id, summed.intent_id) as intent, coalesce(holding.chain, summed.chain) as chain,
        holding.rest_units as rest, summed.units as of_movements
      from (select * from holding where rest_block is not null) as holding full join (
        select last.intent_id, last.chain, last.token, (
          select greatest(0, sum(case movement.direction when 'in' then movement.amount_units else -movement.amount_units end))
          from movement where movement.intent_id = last.intent_id and movement.chain = last.chain and movement.token = last.token
            and movement.orphaned_at is null and (movement.block_number, movement.place) <= (last.block_number, last.place)) as units
        from (
          select distinct on (intent_id, chain, token) * from movement where direction = 'out' and orphaned_at is null
          order by intent_id, chain, token, block_number desc, place desc
        ) as last
      ) as summed on (summed.intent_id, summed.chain, summed.token) = (holding.intent_id, holding.chain, holding.token)
      where coalesce(holding.rest_units, 0) <> coalesce(summed.units, 0)
        and not exists (
          select from movement
          left join deposit_cursor arrived on arrived.chain = movement.chain left join settlement_cursor taken on taken.chain = movement.chain
          where movement.intent_id = coalesce(holding.intent_id, summed.intent_id)
            and movement.chain = coalesce(holding.chain, summed.chain)
            and case movement.direction when 'in' then (movement.revision, movement.id) <= (arrived.revision, arrived.movement_id)
              else (movement.revision, movement.id) <= (taken.revision, taken.movement_id) end is not true)
        and not exists (select from quarantine where quarantine.intent_id = coalesce(holding.intent_id, summed.intent_id))`,
  },
  {
    name: "due-money-is-planned",
    meaning:
      "An inbox holds counted money that belongs to a reached price or reaches the minimum, and no settlement is due.",
    query: sql`
      select holding.intent_id as intent, holding.chain, holding.unswept_units as units
      from holding join intent on intent.id = holding.intent_id
      cross join lateral pinned_minimum(intent, holding.chain, holding.token) as minimum (units)
      where holding.unswept_units > 0 and holding.due_from is null
        and (holding.unswept_units >= minimum.units
          or ${reachesPrice(sql`intent.counted_units`)}
            and not ${reachesPrice(takenUnits(UNSWEPT_OF_INTENT))})
        and not exists (
          select from settlement where settlement.intent_id = holding.intent_id and settlement.chain = holding.chain
            and settlement.token = holding.token and ${isOpenSettlement("settlement")})`,
  },
  {
    name: "settlement-has-event",
    meaning: "A settlement's last event shows another state than the settlement.",
    query: sql`
      with last_event as (
        select distinct on (content ->> 0) 'set_' || (content ->> 0) as settlement_id, type_of.name as type
        from event join ${eventTypesOf("settlement.")} on type_of.number = event.type order by content ->> 0, position desc
      )
      select settlement.id as settlement, settlement.status, last_event.type as told
      from settlement left join last_event on last_event.settlement_id = settlement.id
      where settlement.status <> 'planned' and (last_event.type <> 'settlement.' || settlement.status
        or (last_event.type is null and settlement.created_at > ${eventsExpiredBefore}))`,
  },
];
