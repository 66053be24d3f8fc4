import { sql } from "kysely";
import { assetSql } from "../ledger/assetSql.ts";
import type { Check } from "../ledger/check.ts";
import { LEDGER_LINES, TRANSFERS_REFERENCE } from "./store/bookMovements.ts";

/** Whether a movement's block was reread after it became final, which corrects false and missing transfers. */
const IS_REREAD = sql`movement.block_number <= chain_cursor.reread_number`;

export const watchChecks: readonly Check[] = [
  {
    name: "movement-has-inbox",
    meaning: "A movement's address is no inbox of its intent on its chain.",
    query: sql`
      select movement.id as movement, movement.intent_id as intent, movement.chain, movement.inbox
      from movement left join inbox on inbox.address = movement.inbox and inbox.namespace = split_part(movement.chain, ':', 1)
        and inbox.reference in ('', split_part(movement.chain, ':', 2))
      where inbox.intent_id is distinct from movement.intent_id`,
  },
  // Earlier versions booked each movement alone. Such a posting stays until its group changes.
  {
    name: "movement-has-posting",
    meaning: "Movements up to the booked block have no matching posting, or a posting has no matching movements.",
    query: sql`
      with standing as (
        select posting.*, counter.account as counter, counter.asset, counter.amount_units
        from ledger_posting posting
        left join ledger_entry counter on counter.posting_id = posting.id and counter.place = 1
        where (posting.reference like 'movement:%' or posting.reference like 'transfers:%') and posting.reverses is null
          and not exists (select from ledger_posting reversal where reversal.reverses = posting.id)
      ), named as (
        select movement.*, 'movement:' || movement.id as own_reference, line.counter, line.units
        from movement join chain_cursor on chain_cursor.chain = movement.chain
        join intent on intent.id = movement.intent_id
        cross join lateral ${LEDGER_LINES} as line (counter, units)
        where movement.orphaned_at is null and movement.block_number <= chain_cursor.booked_number and line.units <> 0
      ), moved as (
        select coalesce(own.reference, ${TRANSFERS_REFERENCE}) as reference, chain, chain_tx, 'inbox:' || intent_id as custody,
          counter, ${assetSql(sql`chain`, sql`token`)} as asset, direction, max(block_number) as block_number,
          sum(units) as amount_units, case when own.reference is not null then max(revision) end as version
        from named left join (select reference from standing) as own on own.reference = own_reference
        group by own.reference, chain, chain_tx, intent_id, token, counter, direction
      )
      select coalesce(moved.reference, standing.reference) as reference, standing.id as posting,
        moved.amount_units as moved, standing.amount_units as booked
      from moved full join standing on standing.reference = moved.reference
      where (standing.version, standing.custody, standing.chain, standing.chain_tx, standing.block_number,
          standing.counter, standing.asset, standing.amount_units)
        is distinct from (coalesce(moved.version, standing.version), moved.custody, moved.chain, moved.chain_tx,
          moved.block_number, moved.counter, moved.asset,
          case moved.direction when 'in' then -moved.amount_units else moved.amount_units end)`,
  },
  {
    name: "netted-fees-were-paid",
    meaning: "The fees of one netted batch add up to more than the hub paid.",
    query: sql`
      select movement.chain, movement.chain_tx, movement.token, movement.batch_place, sum(movement.fee_units) as fees,
        max(movement.batch_fee_units) as paid
      from movement join chain_cursor on chain_cursor.chain = movement.chain
      where movement.batch_place is not null and movement.orphaned_at is null and ${IS_REREAD}
      group by movement.chain, movement.chain_tx, movement.token, movement.batch_place
      having sum(movement.fee_units) > min(movement.batch_fee_units)`,
  },
  {
    name: "outflow-recipient-is-pinned",
    meaning: "Money left an inbox to an address other than its payout, its fee recipient and its hub.",
    query: sql`
      select movement.intent_id as intent, movement.chain, movement.chain_tx, movement.counterparty as "to",
        movement.amount_units as units
      from movement join intent on intent.id = movement.intent_id
      join chain_cursor on chain_cursor.chain = movement.chain
      where movement.direction = 'out' and movement.orphaned_at is null and movement.explained_by is null and ${IS_REREAD}
        and movement.counterparty not in (intent.payout_wallet, intent.fee_recipient, intent.inbox_hub)`,
  },
  {
    name: "blocks-are-linked",
    meaning: "A canonical block does not follow the one below it, or the cursor is on no canonical block.",
    query: sql`
      select block.chain, block.number, block.hash, block.parent_hash as parent, parent.hash as below
      from block join block parent on parent.chain = block.chain and parent.number = block.number - 1 and parent.orphaned_at is null
      where block.orphaned_at is null and block.parent_hash <> parent.hash
      union all
      select chain_cursor.chain, chain_cursor.number, chain_cursor.hash, null, block.hash
      from chain_cursor left join block
        on block.chain = chain_cursor.chain and block.number = chain_cursor.number and block.orphaned_at is null
      where block.hash is distinct from chain_cursor.hash
      union all
      select block.chain, block.number, block.hash, null, null
      from block join chain_cursor on chain_cursor.chain = block.chain
      where block.orphaned_at is null and block.number > chain_cursor.number`,
  },
  {
    name: "movement-block-is-canonical",
    meaning: "A movement is in a replaced block, or above the cursor.",
    query: sql`
      select movement.id as movement, movement.chain, movement.block_number, movement.block_hash
      from movement join chain_cursor on chain_cursor.chain = movement.chain
      where movement.orphaned_at is null and (movement.block_number > chain_cursor.number or exists (
        select from block where block.chain = movement.chain and block.number = movement.block_number
          and block.hash <> movement.block_hash and block.orphaned_at is null))`,
  },
];
