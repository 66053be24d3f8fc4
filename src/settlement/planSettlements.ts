import { findWatchedChain } from "../catalog/catalog.ts";
import { refreshHoldings } from "../deposit/holding/holdingStore.ts";
import { isolateIntents } from "../handover/isolateIntents.ts";
import { lockIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import type { World } from "../world.ts";
import { assignToSweeps } from "./sweep/assignToSweeps.ts";
import { newSettlement } from "./settlement.ts";
import { insertPlannedSettlements, listDueInboxes } from "./store.ts";

type PlanWorld = Pick<World, "db" | "clock" | "entropy" | "catalog" | "log">;

/** Inboxes planned per call. */
const PLAN_MAX = 500;

/**
 * Plans a settlement for every inbox on a chain with counted, unsettled money. Returns the number of planned
 * settlements.
 */
export async function planSettlements(world: PlanWorld, chain: Caip2): Promise<number> {
  const at = world.clock.now();
  const countedBefore = addMs(at, -(findWatchedChain(world.catalog, chain)?.settleAfterMs ?? 0));
  const waiting = await listDueInboxes(world.db.root, { chain, countedBefore, at, limit: PLAN_MAX });
  if (waiting.length === 0) return 0;
  let planned = 0;
  await isolateIntents(world, {
    chain,
    work: "plan settlements",
    intentIds: [...new Set(waiting.map((inbox) => inbox.intentId))],
    step: async (intentIds) => {
      planned += await planForIntents(world, { chain, intentIds, countedBefore, at });
    },
  });
  return planned;
}

async function planForIntents(
  world: PlanWorld,
  {
    chain,
    intentIds,
    countedBefore,
    at,
  }: { chain: Caip2; intentIds: readonly string[]; countedBefore: Date; at: Date },
): Promise<number> {
  return world.db.transaction(async (tx) => {
    // Observing a sweep takes these locks too. Another process or a stranger may have settled these inboxes by now.
    await lockIntents(tx, intentIds);
    const { hasMore } = await assignToSweeps(tx, { chain, intentIds });
    const due = hasMore ? [] : await listDueInboxes(tx, { chain, countedBefore, at, limit: PLAN_MAX, intentIds });
    await insertPlannedSettlements(
      tx,
      due.map((inbox) => newSettlement({ ...inbox, chain, id: newId("set", world.entropy), at })),
    );
    await refreshHoldings(tx, intentIds);
    return due.length;
  });
}
