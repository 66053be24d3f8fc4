import type { Tx } from "../db/database.ts";
import { changedFields } from "../event/changedFields.ts";
import { appendEvents } from "../event/store.ts";
import { assert } from "../kernel/assert.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { intentRecord } from "./intentRecord.ts";
import { lockIntents, updateToArchived, type IntentRow } from "./store.ts";

type ArchiveWorld = Pick<World, "clock" | "entropy" | "config">;

/**
 * Archives an intent and frees its destination. An archived intent stays unchanged and appends no event. Later deposits
 * are still counted and settled. Throws intent_has_pending_deposits while a deposit is seen and not final.
 */
export async function archiveIntent(tx: Tx, world: ArchiveWorld, intentId: string): Promise<IntentRow> {
  const [before] = await lockIntents(tx, [intentId]);
  assert(before, `intent ${intentId} does not exist`);
  if (before.status === "archived") return before;
  if (before.pending_count > 0) {
    throw new Fault("intent_has_pending_deposits", { details: { pendingCount: before.pending_count } });
  }
  const at = world.clock.now();
  const intent = await updateToArchived(tx, { id: before.id, at });
  const object = intentRecord(intent, world.config);
  const event = {
    type: "payment_intent.archived",
    accountId: intent.account_id,
    intentNumber: intent.seq,
    livemode: intent.livemode,
    object,
    previous: changedFields(intentRecord(before, world.config), object),
  } as const;
  await appendEvents(tx, world, { events: [event], at });
  return intent;
}
