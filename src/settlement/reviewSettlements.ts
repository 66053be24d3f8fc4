import { appendEvents } from "../event/store.ts";
import { claimIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { settlementEvents } from "./events.ts";
import { refused } from "./settlement.ts";
import { claimSettlements, listMissed, writeSettlement, type Missed } from "./store.ts";

type ReviewWorld = Pick<World, "db" | "clock" | "entropy" | "log">;

/** Settlements reviewed in one call. */
const REVIEW_MAX = 200;

/**
 * Takes back settlements whose transaction is over without having moved anything out of their inbox: it was reverted, its item
 * was refused inside a batch, or its nonce was used by another transaction.
 */
export async function reviewSettlements(world: ReviewWorld, chain: Caip2): Promise<number> {
  const missed = await listMissed(world.db, { chain, limit: REVIEW_MAX });
  for (const each of missed) await takeBack(world, each);
  return missed.length;
}

async function takeBack(world: ReviewWorld, missed: Missed): Promise<void> {
  const at = world.clock.now();
  const reason = `transaction_${missed.sendingStatus}_without_effect`;
  await world.db.transaction(async (tx) => {
    // The intent first, like everybody who locks both: two that lock in turn would wait for each other.
    const [intent] = await claimIntents(tx, [missed.intentId]);
    const [current] = await claimSettlements(tx, [missed.id], ["submitted"]);
    if (current === undefined) return;
    const after = refused(current, { reason, at, addMs });
    await writeSettlement(tx, after);
    if (intent) await appendEvents(tx, world, { events: settlementEvents(intent, current, after), at });
  });
  world.log.warn({ settlement: missed.id, reason }, "a settlement moved nothing; it is tried again later");
}
