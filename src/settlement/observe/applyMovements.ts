import type { Tx } from "../../db/database.ts";
import { lockIntents } from "../../intent/store.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { HINT_TTL_MS, viewHintsTopic } from "../../view/registerView.ts";
import { upsertViewHints } from "../../view/store.ts";
import type { MovementRow } from "../../watch/movement.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";
import type { World } from "../../world.ts";
import { listWaitingSweeps, sweepAgreementsTopic } from "../agreement/openAgreements.ts";
import { listMintsOfSweeps } from "../crossing/landCrossings.ts";
import { revertCrossings } from "../crossing/revertCrossings.ts";
import { SettlementChanges } from "../change/settlementChanges.ts";
import { groupSweeps, keyOfSweep, sweepKey, type Sweep } from "../settlement.ts";
import { lockInboxSettlements } from "../store.ts";
import { SweepObservation, type SweepFinding } from "./sweepObservation.ts";
import { listSweepLegs, preferIndexScans } from "../sweep/sweepReads.ts";

export type ApplyWorld = Pick<World, "db" | "clock" | "entropy" | "log" | "wake" | "catalog">;

/** What one transaction leaves to do after its commit. `waiting`: sweeps that more providers must confirm. */
export type AppliedMovements = { findings: readonly SweepFinding[]; waiting: number };

/**
 * Applies movements out of inboxes of one chain: lands or reverts the settlements of their sweeps. A sweep that more
 * providers must confirm first counts as not shown: its settlement stays as it is, and one that had landed is taken
 * back.
 */
export async function applyMovements(
  tx: Tx,
  world: ApplyWorld,
  { chain, movements }: { chain: Caip2; movements: readonly MovementRow[] },
): Promise<AppliedMovements> {
  await preferIndexScans(tx);
  const chainTxs = [...new Set(movements.map((departure) => departure.chain_tx))];
  const intents = await lockIntents(tx, [...new Set(movements.map((departure) => departure.intent_id))]);
  const changed = new Map(movements.map((departure) => [sweepKey(departure), departure]));
  const legs = await listSweepLegs(tx, { chain, chainTxs });
  const at = world.clock.now();
  const waiting = await listWaitingSweeps(tx, world, { chain, names: [...changed.values()], legs, at });
  const shown = groupSweeps(legs).filter((sweep) => !waiting.has(keyOfSweep(sweep)));
  const sweeps = Map.groupBy(shown, keyOfSweep);
  const settlements = await lockInboxSettlements(tx, chain, [...changed.values()]);
  const changes = new SettlementChanges(at, intents);
  const observation = new SweepObservation(world, { chain, at, changes, settlements });
  for (const [key, movement] of changed) observation.revertVanished(movement, sweeps.get(key) ?? []);
  const landed = [...changed.keys()].flatMap((key) => sweeps.get(key) ?? []);
  const mintsOf = await listMintsOfSweeps(tx, chain, landed);
  for (const sweep of landed.toSorted(compareByPlace))
    observation.applySweep(sweep, mintsOf.get(keyOfSweep(sweep)) ?? []);
  const findings = await observation.write(tx);
  await revertCrossings(tx, world, {
    settleChain: chain,
    names: [...changed.values()],
    sweeps: new Map(landed.map((sweep) => [keyOfSweep(sweep), sweep])),
    mintsOf,
    intents: changes.intents,
    at,
  });
  return { findings, waiting: waiting.size };
}

/** The first sweep of an inbox takes the settlement that waits for it. */
function compareByPlace(one: Sweep, other: Sweep): number {
  if (one.blockNumber !== other.blockNumber) return one.blockNumber < other.blockNumber ? -1 : 1;
  return one.placeLast < other.placeLast ? -1 : 1;
}

/**
 * Runs after the commit. When a sweep moved more than came in since the previous sweep, a movement is missing, and the
 * inbox is scanned again.
 */
export async function reportFindings(
  world: Pick<World, "db" | "clock" | "log" | "wake">,
  chain: Caip2,
  applied: readonly AppliedMovements[],
): Promise<void> {
  if (applied.some(({ waiting }) => waiting > 0)) world.wake.notify(sweepAgreementsTopic(chain));
  const findings = applied.flatMap((each) => each.findings);
  for (const { sweep, settlementId, movedUnits, arrivedUnits, otherRecipientUnits, unpaidUnits } of findings) {
    const facts = { settlement: settlementId, chainTx: sweep.chainTx, movedUnits: String(movedUnits) };
    const { intentId: intent } = sweep;
    if (arrivedUnits !== undefined && arrivedUnits > movedUnits)
      raiseAlarm(
        world.log,
        { ...facts, alarm: "sweep_left_money", chain, intent, leftUnits: String(arrivedUnits - movedUnits) },
        "a sweep left money in its inbox; what is counted of it is planned again",
      );
    if (arrivedUnits !== undefined && arrivedUnits < movedUnits)
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
async function requestRescan(
  world: Pick<World, "db" | "clock" | "wake">,
  chain: Caip2,
  sweeps: readonly Sweep[],
): Promise<void> {
  const [namespace, reference] = [namespaceOf(chain), referenceOf(chain)];
  const expiresAt = addMs(world.clock.now(), HINT_TTL_MS);
  const hints = new Map(
    sweeps.map(({ intentId, token }) => [`${intentId}/${token}`, { intentId, namespace, reference, token, expiresAt }]),
  );
  await upsertViewHints(world.db, [...hints.values()]);
  if (sweeps.length > 0) world.wake.notify(viewHintsTopic(chain));
}
