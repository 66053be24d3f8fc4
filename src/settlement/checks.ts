import { sql } from "kysely";
import { eventsExpiredBefore } from "../event/store.ts";
import type { Check } from "../ledger/check.ts";

export const settlementTotalsCheck: Check = {
  name: "intent-totals-match-settlements",
  meaning: "An intent's settled amount differs from the sum of its landed settlements.",
  query: sql`
    select intent.id as intent, intent.settled_units as settled, sums.gross, intent.fee_units as fee, sums.fee as fees
    from intent left join (
      select intent_id, chain, token, sum(gross_units) as gross, sum(fee_units) as fee, sum(net_units) as net
      from settlement where status = 'landed' group by intent_id, chain, token) as sums
    on sums.intent_id = intent.id and sums.token = intent.payout_token
      and sums.chain = intent.payout_namespace || ':' || intent.payout_chain_reference
    where (intent.settled_units, intent.fee_units, intent.net_units)
      <> (coalesce(sums.gross, 0), coalesce(sums.fee, 0), coalesce(sums.net, 0))`,
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
    // A provider may omit one leg of a sweep: its split is reliable once its block was reread and the settlement station has processed it.
    // One transaction may settle an inbox several times, and each time rounds down. In each the payout precedes the fee. Where payout and fee
    // recipient are the same, and where no payment of the hub is known, only the most that the fee can be is checked.
    query: sql`
      select settlement.id as settlement, settlement.gross_units as gross, settlement.fee_units as fee, paid.fee_units as paid, intent.fee_bps
      from settlement join intent on intent.id = settlement.intent_id join chain_cursor cursor on cursor.chain = settlement.chain
      cross join lateral (
        select coalesce(sum(case leg.counterparty when intent.inbox_hub then leg.fee_units
            when intent.fee_recipient then leg.amount_units end), 0) as fee_units,
          coalesce(bool_or(leg.counterparty = intent.inbox_hub and leg.fee_units is null), false) as is_unknown,
          coalesce(bool_or(leg.counterparty = intent.fee_recipient and leg.amount_units is distinct from
            div((leg.amount_units + leg.payout_units) * intent.fee_bps, 10000)), false) as is_other_share
        from (
          select movement.*, lag(movement.amount_units) over (order by movement.place) as payout_units from movement
          where movement.intent_id = settlement.intent_id and movement.chain = settlement.chain
            and movement.token = settlement.token and movement.chain_tx = settlement.chain_tx
            and movement.direction = 'out' and movement.orphaned_at is null
        ) as leg
      ) as paid
      where settlement.status = 'landed' and settlement.block_number <= cursor.reread_number
        and not exists (
          select from movement join settlement_cursor taken on taken.chain = movement.chain
          where movement.intent_id = settlement.intent_id and movement.chain = settlement.chain
            and movement.chain_tx = settlement.chain_tx and movement.direction = 'out'
            and (movement.revision, movement.id) > (taken.revision, taken.movement_id))
        and (settlement.fee_units > div((settlement.gross_units - settlement.route_cost_units) * intent.fee_bps, 10000)
          or intent.payout_wallet <> intent.fee_recipient
            and (paid.is_other_share or settlement.fee_units <> paid.fee_units and not paid.is_unknown))`,
  },
  {
    name: "landed-matches-movements",
    meaning: "A landed settlement differs from the movements out of its inbox, rescued money excepted.",
    query: sql`
      select settlement.id as settlement, settlement.chain_tx, settlement.gross_units as gross, sums.units as moved
      from settlement left join (
        select movement.intent_id, movement.chain, movement.token, movement.chain_tx,
          coalesce(sum(movement.amount_units) filter (where movement.orphaned_at is null
            and movement.counterparty in (intent.payout_wallet, intent.fee_recipient, intent.inbox_hub)), 0) as units,
          bool_and((movement.revision, movement.id) <= (taken.revision, taken.movement_id)) as is_taken
        from movement join settlement_cursor taken on taken.chain = movement.chain
        join intent on intent.id = movement.intent_id
        where movement.direction = 'out' group by 1, 2, 3, 4
      ) as sums using (intent_id, chain, token, chain_tx)
      where settlement.status = 'landed' and coalesce(sums.is_taken, true) and settlement.gross_units is distinct from sums.units`,
  },
  settlementTotalsCheck,
  {
    name: "bridge-balance-has-settlement",
    meaning: "A bridge holds money although no settlement of the asset is bridging.",
    query: sql`
      select balance.account, balance.asset, balance.balance_units as units from ledger_balance balance
      where balance.account like 'bridge:%' and balance.balance_units <> 0
        and not exists (select from settlement where settlement.status = 'bridging')`,
  },
  {
    name: "settlement-has-event",
    meaning: "A settlement's last event shows another state than the settlement.",
    query: sql`
      with last_event as (
        select distinct on (data -> 'object' ->> 'settlementId') data -> 'object' ->> 'settlementId' as settlement_id, type
        from event where type like 'settlement.%' order by data -> 'object' ->> 'settlementId', position desc
      )
      select settlement.id as settlement, settlement.status, last_event.type as told
      from settlement left join last_event on last_event.settlement_id = settlement.id
      where settlement.status <> 'planned' and (last_event.type <> 'settlement.' || settlement.status
        or (last_event.type is null and settlement.created_at > ${eventsExpiredBefore}))`,
  },
];
