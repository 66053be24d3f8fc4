import { assignSettlement } from "../deposit/store.ts";
import { isOnRail } from "../intent/payout.ts";
import type { Tx } from "../db/database.ts";
import type { NewEvent } from "../event/event.ts";
import { appendEvents } from "../event/store.ts";
import { claimIntents, writeProgress, type IntentRow } from "../intent/store.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import { HINT_MS, hintsTopic } from "../view/recordView.ts";
import { renewHints } from "../view/store.ts";
import type { World } from "../world.ts";
import { settlementEvents } from "./events.ts";
import { newSettlement } from "./planSettlements.ts";
import {
  landed,
  splitOf,
  sweepKey,
  sweepsOf,
  unlanded,
  type Settlement,
  type Split,
  type Sweep,
} from "./settlement.ts";
import {
  advanceCursor,
  claimCursor,
  claimOfInbox,
  listDepartures,
  listLegs,
  listOfSettlement,
  listTaken,
  writeSettlement,
} from "./store.ts";

type ObserveWorld = Pick<World, "db" | "clock" | "entropy" | "log" | "wake">;

/**
 * Movements taken over in one transaction. Each sweep takes several statements, with its intent locked until the end: with many more, others
 * would wait for longer than they may, and a process that is ended often would never get through.
 */
const BATCH_MAX = 100;

/**
 * Takes over what the watch station saw leave the inboxes of a chain. A settlement has landed when the token itself says so,
 * whoever caused it: ours and a stranger's sweep are told alike, and a reorg takes either back.
 */
export async function observeSettlements(world: ObserveWorld, chain: Caip2): Promise<{ isDone: boolean }> {
  const at = world.clock.now();
  const { taken, short } = await world.db.transaction(async (tx) => {
    const cursor = await claimCursor(tx, chain);
    const departures = await listDepartures(tx, cursor, BATCH_MAX);
    const last = departures.at(-1);
    if (last === undefined) return { taken: 0, short: [] };
    const legs = await listLegs(tx, {
      chain,
      chainTxs: [...new Set(departures.map((departure) => departure.chain_tx))],
    });
    const sweeps = new Map(sweepsOf(legs).map((sweep) => [keyOf(sweep), sweep]));
    const intents = await claimIntents(tx, [...new Set(departures.map((departure) => departure.intent_id))]);
    const observation = new Observation(tx, { world, at, intents });
    const touched = new Map(departures.map((departure) => [sweepKey(departure), departure]));
    for (const departure of touched.values()) if (!sweeps.has(sweepKey(departure))) await observation.undo(departure);
    for (const key of touched.keys()) {
      const sweep = sweeps.get(key);
      if (sweep) await observation.land(sweep);
    }
    const short = await observation.finish();
    await advanceCursor(tx, { chain, revision: last.revision, movement_id: last.id });
    return { taken: departures.length, short };
  });
  await lookAgain(world, chain, short);
  return { isDone: taken < BATCH_MAX };
}

/** Has inboxes looked at once more, as if their payers were looking. A hint that is lost on the way is one that the second reading makes up for. */
async function lookAgain(world: ObserveWorld, chain: Caip2, sweeps: readonly Sweep[]): Promise<void> {
  const [namespace, reference] = [namespaceOf(chain), referenceOf(chain)];
  const expiresAt = addMs(world.clock.now(), HINT_MS);
  const hints = new Map(
    sweeps.map(({ intentId, token }) => [`${intentId}/${token}`, { intentId, namespace, reference, token, expiresAt }]),
  );
  await renewHints(world.db, [...hints.values()]);
  if (sweeps.length > 0) world.wake.notify(hintsTopic(chain));
}

function keyOf(sweep: Sweep): string {
  return sweepKey({ intent_id: sweep.intentId, token: sweep.token, chain_tx: sweep.chainTx });
}

type Vanished = { intent_id: string; chain: Caip2; token: string; chain_tx: string };

/** What one transaction observes: intents under lock, whose tallies grow and shrink with each sweep, and the events to tell. */
class Observation {
  readonly #tx: Tx;
  readonly #world: ObserveWorld;
  readonly #at: Date;
  readonly #intents: Map<string, IntentRow>;
  readonly #events: NewEvent[] = [];
  readonly #short: Sweep[] = [];

  constructor(tx: Tx, context: { world: ObserveWorld; at: Date; intents: readonly IntentRow[] }) {
    this.#tx = tx;
    this.#world = context.world;
    this.#at = context.at;
    this.#intents = new Map(context.intents.map((intent) => [intent.id, intent]));
  }

  async land(sweep: Sweep): Promise<void> {
    const intent = this.#intents.get(sweep.intentId);
    if (intent === undefined) return;
    const known = await claimOfInbox(this.#tx, sweep);
    const before = known.find((settlement) => settlement.chain_tx === sweep.chainTx) ?? known[0];
    const split = splitOf(sweep, intent);
    const id = newId("set", this.#world.entropy);
    const after = landed(before ?? newSettlement({ ...sweep, id, at: this.#at }), sweep, { split, at: this.#at });
    await this.#write(before, after);
    await this.#assign(sweep, after.id, split);
  }

  async undo(vanished: Vanished): Promise<void> {
    const { intent_id: intentId, chain, token, chain_tx: chainTx } = vanished;
    const known = await claimOfInbox(this.#tx, { intentId, chain, token, chainTx });
    const before = known.find((settlement) => settlement.chain_tx === chainTx);
    if (before?.status !== "landed") return;
    const after = unlanded(before, { isInboxBusy: known.length > 1, at: this.#at });
    await this.#write(before, after);
    await assignSettlement(this.#tx, await listOfSettlement(this.#tx, before.id), null);
  }

  /** Writes what all sweeps came to, and returns those that took more than was seen to come in. */
  async finish(): Promise<readonly Sweep[]> {
    await writeProgress(this.#tx, [...this.#intents.values()]);
    await appendEvents(this.#tx, this.#world, { events: this.#events, at: this.#at });
    return this.#short;
  }

  async #write(before: Settlement | undefined, after: Settlement): Promise<void> {
    const intent = this.#intents.get(after.intent_id);
    if (intent === undefined) return;
    await writeSettlement(this.#tx, after);
    this.#intents.set(intent.id, tallied(intent, { before, after, at: this.#at }));
    this.#events.push(...settlementEvents(intent, before, after));
  }

  /** Where the chain says that a sweep took anything but what came in since the one before it, something was not seen. */
  async #assign(sweep: Sweep, settlementId: string, split: Split): Promise<void> {
    const taken = await listTaken(this.#tx, sweep);
    const takenIds = taken.map((deposit) => deposit.id);
    // Mined again elsewhere, it may have left behind what it took at its old place.
    const left = new Set(await listOfSettlement(this.#tx, settlementId)).difference(new Set(takenIds));
    await assignSettlement(this.#tx, [...left], null);
    await assignSettlement(this.#tx, takenIds, settlementId);
    const takenUnits = taken.reduce((sum, deposit) => sum + deposit.amountUnits, 0n);
    const movedUnits = split.grossUnits + split.strayUnits;
    if (takenUnits < movedUnits) this.#short.push(sweep);
    const facts = { settlement: settlementId, chainTx: sweep.chainTx, movedUnits: String(movedUnits) };
    if (takenUnits !== movedUnits) {
      this.#world.log.error(
        { ...facts, takenUnits: String(takenUnits) },
        "a sweep differs from the movements in that it took",
      );
    }
    if (split.strayUnits !== 0n) {
      this.#world.log.error(
        { ...facts, strayUnits: String(split.strayUnits) },
        "money left an inbox to neither its payout nor its fee recipient",
      );
    }
  }
}

function tallied(
  intent: IntentRow,
  change: { before: Settlement | undefined; after: Settlement; at: Date },
): IntentRow {
  const { before, after } = change;
  if (!isOnRail(intent, after)) return intent;
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
