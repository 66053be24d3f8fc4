import { refreshHeldDust, refreshHoldings } from "../deposit/dust/dustStore.ts";
import { assignSettlement } from "../deposit/store.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import type { Tx } from "../db/database.ts";
import type { NewEvent } from "../event/event.ts";
import { appendEvents } from "../event/store.ts";
import { lockIntents, writeIntentProgress, type IntentRow } from "../intent/store.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import { HINT_TTL_MS, viewHintsTopic } from "../view/registerView.ts";
import { upsertViewHints } from "../view/store.ts";
import { advanceHandoverCursor, lockHandoverCursor } from "../watch/store/handoverStore.ts";
import type { World } from "../world.ts";
import { settlementEvents } from "./settlementEvents.ts";
import { newSettlement } from "./planSettlements.ts";
import {
  markLanded,
  splitSweep,
  sweepKey,
  groupSweeps,
  revertLanding,
  type Settlement,
  type SweepSplit,
  type Sweep,
} from "./settlement.ts";
import {
  lockInboxSettlements,
  listOutboundMovements,
  listSweepLegs,
  listSettlementDepositIds,
  listSweptDeposits,
  writeSettlement,
} from "./store.ts";

type ObserveWorld = Pick<World, "db" | "clock" | "entropy" | "log" | "wake">;

/**
 * Movements per transaction. Each sweep takes several statements under its intent's lock; a larger batch would block other requests too
 * long, and a process that restarts often would never finish one.
 */
const BATCH_MAX = 100;

/**
 * Processes the recorded movements out of a chain's inboxes. A settlement lands when the token's own transfers show it, whether the sweep
 * is ours or a stranger's. A reorg reverts both alike.
 */
export async function observeSettlements(world: ObserveWorld, chain: Caip2): Promise<{ isDone: boolean }> {
  const at = world.clock.now();
  const { processed, short } = await world.db.transaction(async (tx) => {
    const cursor = await lockHandoverCursor(tx, "settlement_cursor", chain);
    const movements = await listOutboundMovements(tx, cursor, BATCH_MAX);
    const last = movements.at(-1);
    if (last === undefined) return { processed: 0, short: [] };
    const legs = await listSweepLegs(tx, {
      chain,
      chainTxs: [...new Set(movements.map((departure) => departure.chain_tx))],
    });
    const sweeps = new Map(groupSweeps(legs).map((sweep) => [keyOfSweep(sweep), sweep]));
    const intents = await lockIntents(tx, [...new Set(movements.map((departure) => departure.intent_id))]);
    const observation = new SweepObservation(tx, { world, at, intents });
    const changedSweeps = new Map(movements.map((departure) => [sweepKey(departure), departure]));
    for (const movement of changedSweeps.values())
      if (!sweeps.has(sweepKey(movement))) await observation.revertSweep(movement);
    for (const key of changedSweeps.keys()) {
      const sweep = sweeps.get(key);
      if (sweep) await observation.applySweep(sweep);
    }
    const unexplained = await observation.writeResults();
    await advanceHandoverCursor(tx, "settlement_cursor", { chain, revision: last.revision, movement_id: last.id });
    return { processed: movements.length, short: unexplained };
  });
  await requestRescan(world, chain, short);
  return { isDone: processed < BATCH_MAX };
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

function keyOfSweep(sweep: Sweep): string {
  return sweepKey({ intent_id: sweep.intentId, token: sweep.token, chain_tx: sweep.chainTx });
}

type OrphanedSweep = { intent_id: string; chain: Caip2; token: string; chain_tx: string };

/** One transaction's observation: locked intents, whose settled totals change with each sweep, and the events to append. */
class SweepObservation {
  readonly #tx: Tx;
  readonly #world: ObserveWorld;
  readonly #at: Date;
  readonly #intents: Map<string, IntentRow>;
  readonly #events: NewEvent[] = [];
  readonly #unexplained: Sweep[] = [];

  constructor(tx: Tx, context: { world: ObserveWorld; at: Date; intents: readonly IntentRow[] }) {
    this.#tx = tx;
    this.#world = context.world;
    this.#at = context.at;
    this.#intents = new Map(context.intents.map((intent) => [intent.id, intent]));
  }

  async applySweep(sweep: Sweep): Promise<void> {
    const intent = this.#intents.get(sweep.intentId);
    if (intent === undefined) return;
    const known = await lockInboxSettlements(this.#tx, sweep);
    const before = known.find((settlement) => settlement.chain_tx === sweep.chainTx) ?? known[0];
    const split = splitSweep(sweep, intent);
    const id = newId("set", this.#world.entropy);
    const after = markLanded(before ?? newSettlement({ ...sweep, id, at: this.#at }), sweep, { split, at: this.#at });
    await this.#write(before, after);
    await this.#assignDeposits(sweep, after.id, split);
  }

  async revertSweep(vanished: OrphanedSweep): Promise<void> {
    const { intent_id: intentId, chain, token, chain_tx: chainTx } = vanished;
    const known = await lockInboxSettlements(this.#tx, { intentId, chain, token, chainTx });
    const before = known.find((settlement) => settlement.chain_tx === chainTx);
    if (before?.status !== "landed") return;
    const after = revertLanding(before, { isInboxBusy: known.length > 1, at: this.#at });
    await this.#write(before, after);
    await assignSettlement(this.#tx, await listSettlementDepositIds(this.#tx, before.id), null);
  }

  /** Writes the results of all sweeps, and returns those that took more than the recorded deposits. */
  async writeResults(): Promise<readonly Sweep[]> {
    const intentIds = [...this.#intents.keys()];
    await writeIntentProgress(this.#tx, [...this.#intents.values()]);
    await refreshHeldDust(this.#tx, intentIds);
    await refreshHoldings(this.#tx, intentIds);
    await appendEvents(this.#tx, this.#world, { events: this.#events, at: this.#at });
    return this.#unexplained;
  }

  async #write(before: Settlement | undefined, after: Settlement): Promise<void> {
    const intent = this.#intents.get(after.intent_id);
    if (intent === undefined) return;
    await writeSettlement(this.#tx, after);
    this.#intents.set(intent.id, addToIntentTotals(intent, { before, after, at: this.#at }));
    this.#events.push(...settlementEvents(intent, before, after));
  }

  /** When a sweep's amount differs from the deposits since the previous sweep, a movement is missing. */
  async #assignDeposits(sweep: Sweep, settlementId: string, split: SweepSplit): Promise<void> {
    const taken = await listSweptDeposits(this.#tx, sweep);
    const takenIds = taken.map((deposit) => deposit.id);
    // A sweep that is mined again at another place may no longer include its earlier deposits.
    const left = new Set(await listSettlementDepositIds(this.#tx, settlementId)).difference(new Set(takenIds));
    await assignSettlement(this.#tx, [...left], null);
    await assignSettlement(this.#tx, takenIds, settlementId);
    const takenUnits = taken.reduce((sum, deposit) => sum + deposit.amountUnits, 0n);
    const movedUnits = split.grossUnits + split.otherRecipientUnits;
    if (takenUnits < movedUnits) this.#unexplained.push(sweep);
    const facts = { settlement: settlementId, chainTx: sweep.chainTx, movedUnits: String(movedUnits) };
    if (takenUnits !== movedUnits) {
      this.#world.log.error({ ...facts, takenUnits: String(takenUnits) }, "a sweep's amount differs from its deposits");
    }
    if (split.otherRecipientUnits !== 0n) {
      this.#world.log.error(
        { ...facts, strayUnits: String(split.otherRecipientUnits) },
        "money left an inbox to neither its payout nor its fee recipient",
      );
    }
  }
}

function addToIntentTotals(
  intent: IntentRow,
  change: { before: Settlement | undefined; after: Settlement; at: Date },
): IntentRow {
  const { before, after } = change;
  if (!isPayoutAsset(intent, after)) return intent;
  const difference = (read: (settlement: Settlement) => bigint | null) =>
    (read(after) ?? 0n) - (before === undefined ? 0n : (read(before) ?? 0n));
  return {
    ...intent,
    settled_units: intent.settled_units + difference((settlement) => settlement.gross_units),
    fee_units: intent.fee_units + difference((settlement) => settlement.fee_units),
    net_units: intent.net_units + difference((settlement) => settlement.net_units),
    updated_at: change.at,
  };
}
