import { appendEvents } from "../event/store.ts";
import { lockIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { settlementEvents } from "./settlementEvents.ts";
import { afterFailedAttempt } from "./settlement.ts";
import { lockSettlements, listIneffectiveSettlements, writeSettlement, type IneffectiveSettlement } from "./store.ts";

type ReplanWorld = Pick<World, "db" | "clock" | "entropy" | "log">;

/** Settlements reviewed per call. */
const REPLAN_MAX = 200;

/**
 * Replans settlements whose closed transaction moved nothing out of their inbox: it reverted, its item was refused inside a batch, or it
 * can no longer be mined.
 */
export async function replanSettlements(world: ReplanWorld, chain: Caip2): Promise<number> {
  const ineffective = await listIneffectiveSettlements(world.db, { chain, limit: REPLAN_MAX });
  for (const each of ineffective) await replanSettlement(world, each);
  return ineffective.length;
}

async function replanSettlement(world: ReplanWorld, missed: IneffectiveSettlement): Promise<void> {
  const at = world.clock.now();
  const reason = `transaction_${missed.transactionStatus}_without_effect`;
  await world.db.transaction(async (tx) => {
    // Locks the intent first, in the same order as every other caller, which prevents a deadlock.
    const [intent] = await lockIntents(tx, [missed.intentId]);
    const [current] = await lockSettlements(tx, [missed.id], ["submitted"]);
    if (current === undefined) return;
    const after = afterFailedAttempt(current, { reason, at, addMs });
    await writeSettlement(tx, after);
    if (intent) await appendEvents(tx, world, { events: settlementEvents(intent, current, after), at });
  });
  world.log.warn({ settlement: missed.id, reason }, "a settlement moved nothing; it is retried later");
}
