import { sql, type Selectable } from "kysely";
import type { Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { IntentTable } from "../db/schema.ts";

export type IntentRow = Selectable<IntentTable>;

/**
 * Locks intents, in the order of their ids, so that two workers with overlapping batches wait for each other instead of
 * deadlocking. Whoever changes what later stations know about an intent holds this lock; the intent is always locked first.
 */
export async function claimIntents(tx: Tx, intentIds: readonly string[]): Promise<IntentRow[]> {
  if (intentIds.length === 0) return [];
  return tx.selectFrom("intent").selectAll().where("id", "in", intentIds).orderBy("id").forUpdate().execute();
}

/**
 * Writes what the stations below know of intents whose locks the caller holds: state, tallies (in the payout token's smallest
 * units) and times. Pinned columns are not written, whatever the row says.
 */
export async function writeProgress(tx: Tx, intents: readonly IntentRow[]): Promise<void> {
  if (intents.length === 0) return;
  const column = <T>(read: (intent: IntentRow) => T) => intents.map(read);
  await sql`
    update intent set
      status = changed.status, received_units = changed.received, counted_units = changed.counted,
      settled_units = changed.settled, fee_units = changed.fee, net_units = changed.net,
      pending_count = changed.pending, settled_at = changed.settled_at, updated_at = changed.updated_at
    from unnest(
      ${array(column((intent) => intent.id), "text")},
      ${array(column((intent) => intent.status), "text")},
      ${array(column((intent) => intent.received_units), "numeric")},
      ${array(column((intent) => intent.counted_units), "numeric")},
      ${array(column((intent) => intent.settled_units), "numeric")},
      ${array(column((intent) => intent.fee_units), "numeric")},
      ${array(column((intent) => intent.net_units), "numeric")},
      ${array(column((intent) => intent.pending_count), "int4")},
      ${array(column((intent) => intent.settled_at), "timestamptz")},
      ${array(column((intent) => intent.updated_at), "timestamptz")}
    ) as changed (id, status, received, counted, settled, fee, net, pending, settled_at, updated_at)
    where intent.id = changed.id`.execute(tx);
}

/** Whether another active intent holds the destination that this one would take back. */
export async function isDestinationTaken(tx: Tx, intent: IntentRow): Promise<boolean> {
  const other = await tx
    .selectFrom("intent")
    .select(sql<number>`1`.as("one"))
    .where("account_id", "=", intent.account_id)
    .where("payout_namespace", "=", intent.payout_namespace)
    .where("payout_chain_reference", "=", intent.payout_chain_reference)
    .where("payout_wallet", "=", intent.payout_wallet)
    .where("payout_token", "=", intent.payout_token)
    .where("status", "=", "active")
    .where("occupies", "=", true)
    .where("id", "<>", intent.id)
    .executeTakeFirst();
  return other !== undefined;
}
