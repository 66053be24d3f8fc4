import { sql, type RawBuilder } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { InboxTransfer } from "../movement.ts";

// The rule for the fee in a netted transfer. It is the intent's share of the transfer, rounded down, if the hub paid
// the fee of its batch, and zero if the payout received the fee. The fee stays unknown where the hub paid somebody
// else, paid no fee although one was due, or paid less than this transfer's share: no hub does that, so the answer is
// false or the recovery key sent the money to the hub.

const NO_PLACE = -1n;

/** The columns of `BATCH_COLUMN_NAMES` as arrays, for unnest. */
export function batchColumns(transfers: readonly InboxTransfer[]): RawBuilder<unknown> {
  const batches = transfers.map(({ batch }) => batch);
  return sql`${array(
    batches.map((batch) => batch?.place ?? NO_PLACE),
    "int8",
  )}, ${array(
    batches.map((batch) => batch?.payout ?? ""),
    "text",
  )}, ${array(
    batches.map((batch) => batch?.second?.to ?? ""),
    "text",
  )}, ${array(
    batches.map((batch) => batch?.second?.amountUnits ?? 0n),
    "numeric",
  )}`;
}

export const BATCH_COLUMN_NAMES = sql`batch_place, batch_payout, batch_second_to, batch_second_units`;

/**
 * Joins the fee, as `batch`, to `seen`, which has the transfer's and the batch's columns. All null where the fee is
 * unknown.
 */
export function joinBatch(intentId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    left join lateral (
      select seen.batch_place as place, least(share.units, paid.units) as fee_units, paid.units as paid_fee_units
      from intent
      cross join lateral (select div(seen.amount_units * intent.fee_bps, 10000) as units) as share
      cross join lateral (
        select case when seen.batch_second_to = intent.fee_recipient then seen.batch_second_units else 0 end as units) as paid
      where seen.direction = 'out' and seen.batch_place >= 0
        and intent.id = ${intentId} and intent.inbox_hub = seen.counterparty and intent.payout_wallet = seen.batch_payout
        and case seen.batch_second_to
          when '' then share.units = 0
          when intent.fee_recipient then share.units <= paid.units
          else seen.batch_second_to = intent.payout_wallet end
  ) as batch on true`;
}

/** Those of the transfers out of inboxes whose recorded movement has another fee or batch. */
export async function listChangedFees<T extends InboxTransfer>(
  db: Db,
  chain: Caip2,
  transfers: readonly T[],
): Promise<T[]> {
  const departures = transfers.filter(({ direction }) => direction === "out");
  if (departures.length === 0) return [];
  const column = (read: (one: InboxTransfer) => string) => array(departures.map(read), "text");
  const { rows } = await sql<{ number: bigint }>`
    select seen.number from unnest(
      ${column((one) => one.chainTx)}, ${column((one) => one.direction)}, ${column((one) => one.inbox)},
      ${column((one) => one.token)}, ${column((one) => one.counterparty)}, ${column((one) => one.blockHash)},
      ${array(
        departures.map((one) => one.amountUnits),
        "numeric",
      )}, ${array(
        departures.map((one) => one.place),
        "int8",
      )}, ${batchColumns(departures)}
    ) with ordinality as seen (chain_tx, direction, inbox, token, counterparty, block_hash, amount_units, place,
      ${BATCH_COLUMN_NAMES}, number)
    cross join lateral (
      select * from movement where movement.chain = ${chain} and movement.chain_tx = seen.chain_tx
        and movement.direction || '' = 'out' and movement.inbox = seen.inbox and movement.token = seen.token
        and movement.block_hash = seen.block_hash and movement.place = seen.place and movement.orphaned_at is null offset 0
    ) as recorded
    ${joinBatch(sql`recorded.intent_id`)}
    where (recorded.fee_units, recorded.batch_place, recorded.batch_fee_units)
      is distinct from (batch.fee_units, batch.place, batch.paid_fee_units)`.execute(db.root);
  const changed = new Set(rows.map(({ number }) => Number(number)));
  return departures.filter((_, index) => changed.has(index + 1));
}
