import type { Tx } from "../../db/database.ts";
import type { NewEvent } from "../../event/event.ts";
import { appendEvents } from "../../event/store.ts";
import { writeIntentProgress, type IntentRow } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import type { Settlement } from "../settlement.ts";
import { writeSettlements } from "../store.ts";
import { addToIntentTotals } from "./settledTotals.ts";
import { settlementEvents } from "./settlementEvents.ts";

/** The changed settlements of one transaction, with their events and the totals of their locked intents. */
export class SettlementChanges {
  readonly #at: Date;
  readonly #intents: Map<string, IntentRow>;
  readonly #changedIntents = new Set<string>();
  readonly #settlements = new Map<string, Settlement>();
  readonly #events: NewEvent[] = [];

  constructor(at: Date, intents: Iterable<IntentRow>) {
    this.#at = at;
    this.#intents = new Map(Array.from(intents, (intent) => [intent.id, intent]));
  }

  /** By id, each as it is after its last change. */
  get settlements(): readonly Settlement[] {
    return [...this.#settlements.values()];
  }

  /** The locked intents, with their totals after the changes. */
  get intents(): ReadonlyMap<string, IntentRow> {
    return this.#intents;
  }

  /** Leaves out a settlement of an intent that is not locked. */
  add(before: Settlement | undefined, after: Settlement): void {
    const intent = this.#intents.get(after.intent_id);
    if (intent === undefined) return;
    this.#settlements.set(after.id, after);
    this.#intents.set(intent.id, addToIntentTotals(intent, { before, after, at: this.#at }));
    this.#changedIntents.add(intent.id);
    this.#events.push(...settlementEvents(intent, before, after));
  }

  async writeSettlements(tx: Tx): Promise<void> {
    await writeSettlements(tx, this.settlements);
  }

  /** Only for changes after which a settlement has moved more or less. */
  async writeTotals(tx: Tx): Promise<void> {
    await writeIntentProgress(
      tx,
      [...this.#intents.values()].filter(({ id }) => this.#changedIntents.has(id)),
    );
  }

  async appendEvents(tx: Tx, world: Pick<World, "entropy">): Promise<void> {
    await appendEvents(tx, world, { events: this.#events, at: this.#at });
  }
}
