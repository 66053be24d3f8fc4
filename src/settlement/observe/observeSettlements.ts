import type { Tx } from "../../db/database.ts";
import { lockIntents } from "../../intent/store.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { HINT_TTL_MS, viewHintsTopic } from "../../view/registerView.ts";
import { upsertViewHints } from "../../view/store.ts";
import type { MovementRow } from "../../watch/movement.ts";
import { processHandover, retryQuarantined, type Handover } from "../../watch/store/processHandover.ts";
import type { World } from "../../world.ts";
import { listMintsOfSweeps, revertCrossings } from "../crossing/landCrossings.ts";
import { groupSweeps, sweepKey, type Sweep } from "../settlement.ts";
import { lockInboxSettlements } from "../store.ts";
import { SweepObservation, type SweepFinding } from "./sweepObservation.ts";
import { listOutboundMovements, listSweepLegs, preferIndexScans } from "./sweepReads.ts";

type ObserveWorld = Pick<World, "db" | "clock" | "entropy" | "log" | "wake">;

/** Movements per transaction. A larger batch would hold the locks of its intents too long, and block other requests. */
const BATCH_MAX = 100;
/** Quarantined intents retried per call. */
const RETRIED_MAX = 10;

/**
 * Processes the recorded movements out of a chain's inboxes. A settlement lands when the token's own transfers show it, whether the sweep
 * is ours or a stranger's. A reorg reverts both alike. An intent that fails is quarantined and retried later. `isDone` means that no movement is
 * left, `hasPassed` that there were some.
 */
export async function observeSettlements(
  world: ObserveWorld,
  chain: Caip2,
): Promise<{ isDone: boolean; hasPassed: boolean }> {
  const handover = settlementHandover(world, chain);
  const { results, isDone, hasPassed } = await processHandover(world, handover);
  const retried = await retryQuarantined(world, handover, RETRIED_MAX);
  await reportFindings(world, chain, [...results, ...retried].flat());
  return { isDone, hasPassed: hasPassed || retried.length > 0 };
}

function settlementHandover(world: ObserveWorld, chain: Caip2): Handover<SweepFinding[]> {
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

/** Applies movements out of inboxes of one chain: lands or reverts the settlements of their sweeps. */
async function applyMovements(
  tx: Tx,
  world: ObserveWorld,
  { chain, movements }: { chain: Caip2; movements: readonly MovementRow[] },
): Promise<SweepFinding[]> {
  await preferIndexScans(tx);
  const chainTxs = [...new Set(movements.map((departure) => departure.chain_tx))];
  const sweeps = Map.groupBy(groupSweeps(await listSweepLegs(tx, { chain, chainTxs })), keyOfSweep);
  const intents = await lockIntents(tx, [...new Set(movements.map((departure) => departure.intent_id))]);
  const changed = new Map(movements.map((departure) => [sweepKey(departure), departure]));
  const settlements = await lockInboxSettlements(tx, chain, [...changed.values()]);
  const at = world.clock.now();
  const observation = new SweepObservation(world, { chain, at, intents, settlements });
  for (const [key, movement] of changed) observation.revertVanished(movement, sweeps.get(key) ?? []);
  const landed = [...changed.keys()].flatMap((key) => sweeps.get(key) ?? []);
  const mintsOf = await listMintsOfSweeps(tx, chain, landed);
  for (const sweep of landed.toSorted(compareByPlace))
    observation.applySweep(sweep, mintsOf.get(keyOfSweep(sweep)) ?? []);
  const findings = await observation.write(tx);
  const placed = [...changed].map(([key, { intent_id: intentId, chain_tx: chainTx }]) => {
    return { intentId, chainTx, blockNumber: sweeps.get(key)?.at(-1)?.blockNumber };
  });
  await revertCrossings(tx, world, { settleChain: chain, sweeps: placed, intents: observation.intents, at });
  return findings;
}

/** The first sweep of an inbox takes the settlement that waits for it. */
function compareByPlace(one: Sweep, other: Sweep): number {
  if (one.blockNumber !== other.blockNumber) return one.blockNumber < other.blockNumber ? -1 : 1;
  return one.placeLast < other.placeLast ? -1 : 1;
}

function keyOfSweep(sweep: Sweep): string {
  return sweepKey({ intent_id: sweep.intentId, token: sweep.token, chain_tx: sweep.chainTx });
}

/** When a sweep moved more than came in since the previous sweep, a movement is missing, and the inbox is scanned again. */
async function reportFindings(world: ObserveWorld, chain: Caip2, findings: readonly SweepFinding[]): Promise<void> {
  for (const { sweep, settlementId, movedUnits, arrivedUnits, otherRecipientUnits, unpaidUnits } of findings) {
    const facts = { settlement: settlementId, chainTx: sweep.chainTx, movedUnits: String(movedUnits) };
    if (arrivedUnits !== undefined && arrivedUnits !== movedUnits)
      world.log.error({ ...facts, arrivedUnits: String(arrivedUnits) }, "a sweep's amount differs from its deposits");
    if (otherRecipientUnits !== 0n) {
      world.log.error(
        { ...facts, strayUnits: String(otherRecipientUnits) },
        "money left an inbox to neither its payout nor its fee recipient",
      );
    }
    if (unpaidUnits !== 0n)
      world.log.error({ ...facts, unpaidUnits: String(unpaidUnits) }, "no payment of the hub matches what it received");
    if (sweep.excessFeeUnits !== 0n) {
      const excessUnits = String(sweep.excessFeeUnits);
      world.log.error({ ...facts, excessUnits }, "the fees of a netted batch exceed what the hub paid");
    }
  }
  const short = findings.filter(
    ({ arrivedUnits, movedUnits }) => arrivedUnits !== undefined && arrivedUnits < movedUnits,
  );
  await requestRescan(
    world,
    chain,
    short.map(({ sweep }) => sweep),
  );
}

/** Requests a rescan of inboxes, as a payer's hint would. Rereading covers a lost hint. */
async function requestRescan(world: ObserveWorld, chain: Caip2, sweeps: readonly Sweep[]): Promise<void> {
  const [namespace, reference] = [namespaceOf(chain), referenceOf(chain)];
  const expiresAt = addMs(world.clock.now(), HINT_TTL_MS);
  const hints = new Map(
    sweeps.map(({ intentId, token }) => [`${intentId}/${token}`, { intentId, namespace, reference, token, expiresAt }]),
  );
  await upsertViewHints(world.db, [...hints.values()]);
  if (sweeps.length > 0) world.wake.notify(viewHintsTopic(chain));
}
