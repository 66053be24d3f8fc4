import { sql, type Kysely } from "kysely";

// The fee of a netted transfer is what the chain shows that the hub paid. It was computed, although the hub pays no fee to a wallet that
// refuses it. Null: the chain shows no payment of the hub, or the transfer was recorded before this migration. Its amount stays on
// `hub:<chain>`; a rescan of its transaction reads the payment.

const AMOUNT = "numeric(78,0)";

const statements: readonly string[] = [
  `alter table movement add column fee_units ${AMOUNT}, add column batch_place bigint, add column batch_fee_units ${AMOUNT}`,
  // Not valid first: every existing row is null, and a scan of a large table would hold its lock.
  `alter table movement add constraint movement_fee_is_of_batch check (
    (fee_units is null) = (batch_place is null) and (fee_units is null) = (batch_fee_units is null)
    and (fee_units is null or direction = 'out' and fee_units between 0 and amount_units and fee_units <= batch_fee_units)) not valid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
