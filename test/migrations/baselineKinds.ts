import { sql } from "kysely";
import type { Db } from "../../src/db/database.ts";

/** Simulations whose rows together have every kind of money. */
export const BASELINE_SEEDS = [2, 16, 18, 32] as const;

/** A condition that some row of the baseline meets, by its name. */
const KINDS: Readonly<Record<string, string>> = {
  "a counted deposit": "deposit where status = 'counted'",
  "a held deposit": "deposit where status = 'held'",
  "a deposit that a reorg dropped": "deposit where status = 'dropped'",
  "a late deposit": "deposit where late",
  "dust that waits": "holding where waiting_units > 0",
  "counted dust": "holding where dust_count > 0",
  "a settled intent": "intent where status = 'settled'",
  "an archived intent": "intent where status = 'archived'",
  "an intent with routes": "intent where route_set is not null",
  "an issued source inbox": "source_inbox",
  "a movement that a reorg took away": "movement where orphaned_at is not null",
  "a netted transfer": "movement where fee_units is not null",
  "a landed settlement": "settlement where status = 'landed'",
  "a settlement that crosses": "settlement where status = 'bridging'",
  "a failed settlement": "settlement where status = 'failed'",
  "a held settlement": "settlement where status = 'held'",
  "a landed crossing": "crossing where status = 'landed'",
  "an open crossing": "crossing where status <> 'landed'",
  "a transaction without a block": "outgoing_transaction where status = 'lost'",
  "a reversed posting": "ledger_posting where reverses is not null",
  "a numbered event": "event where sequence is not null",
  "a delivery of a webhook": "webhook_delivery",
};

export const BASELINE_KINDS: readonly string[] = Object.keys(KINDS).toSorted();

export async function readBaselineKinds(db: Db): Promise<string[]> {
  const found: string[] = [];
  for (const [kind, from] of Object.entries(KINDS)) {
    const { rows } = await sql.raw(`select 1 from ${from} limit 1`).execute(db.root);
    if (rows.length > 0) found.push(kind);
  }
  return found;
}
