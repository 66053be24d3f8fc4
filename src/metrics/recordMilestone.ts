import { eventTypeName, type EventType } from "../event/event.ts";
import { showEventData } from "../event/showEvent.ts";
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

/** The fields of resources that log lines name. */
type ShownResource = {
  depositId?: string;
  settlementId?: string;
  caip19?: string;
  reason?: string | null;
  createdAt?: string;
  seenAt?: string;
};

/**
 * Logs one line for an event, measures settlements that landed, and sends a span where one is asked for. Each event is
 * recorded in one process, once.
 */
export function recordMilestone(world: Pick<World, "log" | "memory" | "tracing">, event: SequencedEvent): void {
  const type = eventTypeName(event.type);
  if (type === undefined) return;
  const { depositId, settlementId, caip19, reason, createdAt, seenAt }: ShownResource = showEventData(event).object;
  const details = Object.entries({
    account: event.accountId,
    intent: event.pinned_id,
    deposit: depositId,
    settlement: settlementId,
    asset: caip19,
    reason,
  });
  const fields = Object.fromEntries(details.filter(([, value]) => value !== null && value !== undefined));
  const line = { event: type, ...fields };
  if (MILESTONES.has(type)) world.log.info(line, type);
  else world.log.debug(line, type);
  // A deposit's step begins when it is seen, a settlement's when it is planned. All others take no time.
  const since = depositId === undefined ? settlementId && createdAt : seenAt;
  const endedMs = event.created_at.getTime();
  world.tracing?.record({
    name: type,
    intentId: event.pinned_id ?? undefined,
    startedMs: since === undefined ? endedMs : Date.parse(since),
    endedMs,
    attributes: { account: event.accountId, deposit: depositId, settlement: settlementId, asset: caip19, reason },
  });
  if (type !== "settlement.landed" || createdAt === undefined || caip19 === undefined) return;
  const seconds = (event.created_at.getTime() - Date.parse(createdAt)) / 1_000;
  const [chain = ""] = caip19.split("/");
  if (seconds >= 0) observeSettlement(world, { chain, seconds });
}
