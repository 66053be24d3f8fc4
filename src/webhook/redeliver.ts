import { sql } from "kysely";
import type { Tx } from "../db/database.ts";
import { EVENT_API_VERSION } from "../event/showEvent.ts";
import { addMs, DAY_MS, hasElapsed, secondsBetween } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import { idBytes, newId } from "../kernel/ids.ts";
import type { World } from "../world.ts";
import { isLeased, keepTurn, nextTurn } from "./delivery.ts";
import { addReplays, addTest, hasPendingReplays } from "./deliveryStore.ts";
import { webhookEndpointRecord, type WebhookEndpoint } from "./endpoint/endpoint.ts";
import { updateEndpoint } from "./endpoint/endpointStore.ts";
import { lockExisting, type EndpointKey } from "./endpoint/manageEndpoints.ts";

type ReplayWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "wake">;

/** Sequences of one replay, so that a request is bounded. A longer range takes several. */
const REPLAY_MAX = 10_000n;
/** Replays that wait at one endpoint, and those of a day, beyond which no further ones are accepted. */
const WAITING_MAX = 10_000;
const DAILY_MAX = 100_000;
/** Retry-After while replays wait. */
const WAITING_RETRY_S = 60;

export type ReplayRange = { fromSequence: bigint; toSequence: bigint };
export type ReplaySelection = ReplayRange | { eventId: string };

/**
 * Delivers events of the feed again, also those from before the endpoint was created, and returns their number.
 * Replays wait for each other and not for the queue. Throws not_found, invalid_request, rate_limited and
 * webhook_endpoint_disabled.
 */
export function redeliver(world: ReplayWorld, key: EndpointKey, selection: ReplaySelection): Promise<Replayed> {
  return world.db.transaction((tx) => addRedelivery(tx, world, { key, selection }));
}

type Replayed = { count: number };

/** As `redeliver`, in the caller's transaction. */
export async function addRedelivery(
  tx: Tx,
  world: ReplayWorld,
  { key, selection }: { key: EndpointKey; selection: ReplaySelection },
): Promise<Replayed> {
  return changeQueue(tx, { world, key }, async (endpoint, at) => {
    const { fromSequence: from, toSequence: to } =
      "eventId" in selection ? await findRange(tx, key, selection.eventId) : requireRange(selection);
    const count = await addReplays(tx, { endpoint, at, from, to });
    return { count, result: { count } };
  });
}

function requireRange(range: ReplayRange): ReplayRange {
  const { fromSequence: from, toSequence: to } = range;
  if (from >= 1n && to >= from && to - from < REPLAY_MAX) return range;
  const message = `toSequence must be from fromSequence to ${REPLAY_MAX - 1n} more.`;
  throw new Fault("invalid_request", { param: "toSequence", message });
}

/** Sends a test event to this endpoint alone, and returns it. Throws as `redeliver`. */
export function sendTest(world: ReplayWorld, key: EndpointKey): Promise<object> {
  return world.db.transaction((tx) => addTestEvent(tx, world, key));
}

/** As `sendTest`, in the caller's transaction. */
export async function addTestEvent(tx: Tx, world: ReplayWorld, key: EndpointKey): Promise<object> {
  return changeQueue(tx, { world, key }, async (endpoint, at) => {
    const event = {
      id: newId("evt", world.entropy),
      object: "event",
      type: "webhook_endpoint.test",
      sequence: 0,
      livemode: world.config.environment === "live",
      apiVersion: EVENT_API_VERSION,
      createdAt: at.toISOString(),
      intentId: null,
      merchantReference: null,
      data: { object: webhookEndpointRecord(endpoint), previous: null },
    };
    await addTest(tx, { endpointNumber: endpoint.number, event, at });
    return { count: 1, result: event };
  });
}

type QueueChange<T> = (endpoint: WebhookEndpoint, at: Date) => Promise<{ count: number; result: T }>;

async function changeQueue<T>(
  tx: Tx,
  { world, key }: { world: ReplayWorld; key: EndpointKey },
  change: QueueChange<T>,
): Promise<T> {
  const at = world.clock.now();
  const endpoint = await lockExisting(tx, key);
  if (endpoint.status === "disabled") throw new Fault("webhook_endpoint_disabled");
  const day = await countReplays(tx, endpoint, at);
  const { count, result } = await change(endpoint, at);
  await updateEndpoint(tx, endpoint.number, {
    replays: day.replays + count,
    replays_since: day.since,
    ...(isLeased(endpoint, at) ? {} : keepTurn(endpoint, nextTurn(at, at))),
  });
  world.wake.notify("webhooks");
  return result;
}

/** The replays of an endpoint's day. Throws rate_limited when there are too many, or too many that still wait. */
async function countReplays(tx: Tx, endpoint: WebhookEndpoint, at: Date): Promise<{ replays: number; since: Date }> {
  const { replays_since: since } = endpoint;
  const isToday = since !== null && !hasElapsed(DAY_MS, { since, now: at });
  const day = isToday ? { replays: endpoint.replays, since } : { replays: 0, since: at };
  if (day.replays >= DAILY_MAX) {
    const message = `${DAILY_MAX} events were delivered again within a day. Read further ones from the feed.`;
    throw new Fault("rate_limited", { message, retryAfterS: secondsBetween(at, addMs(day.since, DAY_MS)) });
  }
  if (!(await hasPendingReplays(tx, { endpointNumber: endpoint.number, count: WAITING_MAX }))) return day;
  const message = `${WAITING_MAX} events that were asked for again still wait.`;
  throw new Fault("rate_limited", { message, retryAfterS: WAITING_RETRY_S });
}

async function findRange(tx: Tx, { accountId }: EndpointKey, eventId: string): Promise<ReplayRange> {
  const { rows } = await sql<{ sequence: bigint }>`
    select sequence from event where id = ${idBytes("evt", eventId) ?? new Uint8Array()} and sequence is not null
      and account_number = (select number from account where id = ${accountId})`.execute(tx);
  const sequence = rows[0]?.sequence;
  if (sequence === undefined) throw new Fault("invalid_request", { param: "eventId", message: "No such event." });
  return { fromSequence: sequence, toSequence: sequence };
}
