import type { EventType } from "../event/event.ts";
import type { SequencedEvent } from "../event/store.ts";
import type { World } from "../world.ts";
import { observeSettlement } from "./metrics.ts";

/** Steps of a payment that a person follows in the log at level `info`. The others are logged at level `debug`. */
const MILESTONES: ReadonlySet<EventType> = new Set<EventType>([
  "payment_intent.created",
  "payment_intent.partially_paid",
  "payment_intent.paid",
  "payment_intent.settled",
  "payment_intent.reopened",
  "payment_intent.reversed",
  "payment_intent.archived",
  "deposit.counted",
  "deposit.held",
  "deposit.dropped",
  "settlement.landed",
  "settlement.held",
  "settlement.failed",
]);

/** Logs one line for an event, and measures settlements that landed. Each event is recorded in one process, once. */
export function recordMilestone(world: Pick<World, "log" | "memory">, event: SequencedEvent): void {
  const { type, account, intent, deposit, settlement, asset, reason } = event;
  const details = Object.entries({ account, intent, deposit, settlement, asset, reason });
  const fields = Object.fromEntries(details.filter(([, value]) => value !== null));
  const line = { event: type, ...fields };
  if (MILESTONES.has(type)) world.log.info(line, type);
  else world.log.debug(line, type);
  if (type !== "settlement.landed" || event.objectCreatedAt === null || asset === null) return;
  const seconds = (event.createdAt.getTime() - Date.parse(event.objectCreatedAt)) / 1_000;
  const [chain = ""] = asset.split("/");
  if (seconds >= 0) observeSettlement(world, { chain, seconds });
}
