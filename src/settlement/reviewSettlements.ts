import { appendEvents } from "../event/store.ts";
import { claimIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { settlementEvents } from "./events.ts";
import { refused } from "./settlement.ts";
import { claimSettlements, listMissed, writeSettlement } from "./store.ts";

type ReviewWorld = Pick<World, "db" | "clock" | "entropy" | "log">;

/** Settlements reviewed in one call. */
const REVIEW_MAX = 200;

/**
 * Takes back settlements whose transaction is over without having moved anything out of their inbox: it was reverted, its item
 * was refused inside a batch, or its nonce was used by another transaction.
 */
export async function reviewSettlements(world: ReviewWorld, chain: Caip2): Promise<number> {
  const missed = await listMissed(world.db, { chain, limit: REVIEW_MAX });
  for (const { id, sendingStatus } of missed) await takeBack(world, id, `transaction_${sendingStatus}_without_effect`);
  return missed.length;
}

async function takeBack(world: ReviewWorld, settlementId: string, reason: string): Promise<void> {
  const at = world.clock.now();
  await world.db.transaction(async (tx) => {
    const [current] = await claimSettlements(tx, [settlementId], ["submitted"]);
    if (current === undefined) return;
    const [intent] = await claimIntents(tx, [current.intent_id]);
    const after = refused(current, { reason, at, addMs });
    await writeSettlement(tx, after);
    if (intent) await appendEvents(tx, world, { events: settlementEvents(intent, current, after), at });
  });
  world.log.warn({ settlement: settlementId, reason }, "a settlement moved nothing; it is tried again later");
}
