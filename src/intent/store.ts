import { sql, type Selectable } from "kysely";
import type { Tx } from "../db/database.ts";
import type { IntentStatus, IntentTable } from "../db/schema.ts";

export type IntentRow = Selectable<IntentTable>;

/**
 * Locks intents, in the order of their ids, so that two workers with overlapping batches wait for each other instead of
 * deadlocking. Whoever changes what later stations know about an intent holds this lock; the intent is always locked first.
 */
export async function claimIntents(tx: Tx, intentIds: readonly string[]): Promise<IntentRow[]> {
  if (intentIds.length === 0) return [];
  return tx.selectFrom("intent").selectAll().where("id", "in", intentIds).orderBy("id").forUpdate().execute();
}

/** What the stations below know of an intent, in the payout token's smallest units. Whole values, not differences. */
export type IntentProgress = {
  id: string;
  status: IntentStatus;
  receivedUnits: bigint;
  countedUnits: bigint;
  settledUnits: bigint;
  feeUnits: bigint;
  netUnits: bigint;
  pendingCount: number;
  settledAt: Date | null;
};

/** Writes the progress of one intent whose lock the caller holds. */
export async function writeProgress(tx: Tx, progress: IntentProgress, at: Date): Promise<void> {
  await tx
    .updateTable("intent")
    .set({
      status: progress.status,
      received_units: progress.receivedUnits,
      counted_units: progress.countedUnits,
      settled_units: progress.settledUnits,
      fee_units: progress.feeUnits,
      net_units: progress.netUnits,
      pending_count: progress.pendingCount,
      settled_at: progress.settledAt,
      updated_at: at,
    })
    .where("id", "=", progress.id)
    .execute();
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
