import { noteRents } from "../../bridge/rent/rentStore.ts";
import { writeLandings } from "../../bridge/store.ts";
import type { Tx } from "../../db/database.ts";
import type { NewEvent } from "../../event/event.ts";
import { appendEvents } from "../../event/store.ts";
import { writeIntentProgress, type IntentRow } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import { addToIntentTotals } from "../settledTotals.ts";
import { settlementEvents } from "../settlementEvents.ts";
import type { Settlement, SettlementRow } from "../settlement.ts";
import { writeSettlements } from "../store.ts";

/** Changed settlements of one transaction, with their events and their intents' totals. */
export class CrossingChanges {
  readonly #at: Date;
  readonly #intents: Map<string, IntentRow>;
  readonly #changed: Settlement[] = [];
  readonly #changedIntents = new Set<string>();
  readonly #events: NewEvent[] = [];

  constructor(at: Date, intents: Map<string, IntentRow>) {
    this.#at = at;
    this.#intents = intents;
  }

  get count(): number {
    return this.#changed.length;
  }

  add(before: SettlementRow, after: Settlement): void {
    const intent = this.#intents.get(after.intent_id);
    if (intent === undefined) return;
    this.#changed.push(after);
    this.#intents.set(intent.id, addToIntentTotals(intent, { before, after, at: this.#at }));
    this.#changedIntents.add(intent.id);
    this.#events.push(...settlementEvents(intent, before, after));
  }

  async write(tx: Tx, world: Pick<World, "entropy">, status: "attested" | "landed"): Promise<void> {
    if (this.#changed.length === 0) return;
    await writeSettlements(tx, this.#changed);
    const movementIds = this.#changed.flatMap(({ burn_id }) => burn_id ?? []);
    await writeLandings(tx, { movementIds, status, at: this.#at });
    if (status === "landed") await noteRents(tx, movementIds);
    await writeIntentProgress(
      tx,
      [...this.#intents.values()].filter(({ id }) => this.#changedIntents.has(id)),
    );
    await appendEvents(tx, world, { events: this.#events, at: this.#at });
  }
}
