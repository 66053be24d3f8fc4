import type { Caip2 } from "../../kernel/caip.ts";
import { consumeMovements, retryQuarantined, type MovementConsumer } from "../../handover/consumeMovements.ts";
import { applyMovements, reportFindings, type AppliedMovements, type ApplyWorld } from "./applyMovements.ts";
import { listOutboundMovements } from "../sweep/sweepReads.ts";

/** Movements per transaction. A larger batch would hold the locks of its intents too long, and block other requests. */
const BATCH_MAX = 100;
/** Quarantined intents retried per call. */
const RETRIED_MAX = 10;

/**
 * Processes the recorded movements out of a chain's inboxes. A settlement lands when the token's own transfers show it,
 * whether the sweep is ours or a stranger's. A reorg reverts both alike. An intent that fails is quarantined and
 * retried later. `isDone` means that no movement is left, `hasPassed` that there were some.
 */
export async function observeSettlements(
  world: ApplyWorld,
  chain: Caip2,
): Promise<{ isDone: boolean; hasPassed: boolean }> {
  const consumer = settlementConsumer(world, chain);
  const { results, isDone, hasPassed } = await consumeMovements(world, consumer);
  const retried = await retryQuarantined(world, consumer, RETRIED_MAX);
  await reportFindings(world, chain, [...results, ...retried]);
  return { isDone, hasPassed: hasPassed || retried.length > 0 };
}

function settlementConsumer(world: ApplyWorld, chain: Caip2): MovementConsumer<AppliedMovements> {
  return {
    station: "settlement",
    chain,
    cursorTable: "settlement_cursor",
    direction: "out",
    batchMax: BATCH_MAX,
    list: listOutboundMovements,
    apply: (tx, { movements }) => applyMovements(tx, world, { chain, movements }),
  };
}
