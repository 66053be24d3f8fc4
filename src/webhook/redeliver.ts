import { sql } from "kysely";
import { EVENT_API_VERSION } from "../event/showEvent.ts";
import { Fault } from "../kernel/faults.ts";
import { idBytes, newId } from "../kernel/ids.ts";
import type { World } from "../world.ts";
import { addReplays, addTest } from "./deliveryStore.ts";
import { webhookEndpointRecord } from "./endpoint/endpoint.ts";
import { lockEndpoint, updateEndpoint } from "./endpoint/endpointStore.ts";
import { getEndpoint, type EndpointKey } from "./endpoint/manageEndpoints.ts";

type ReplayWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "wake">;

/** Sequences of one replay, so that a request is bounded. A longer range takes several. */
const REPLAY_MAX = 10_000n;

export type ReplayRange = { fromSequence: bigint; toSequence: bigint };

/**
 * Delivers events of the feed again, also those from before the endpoint was created, and returns their number.
 * Replays wait for each other and not for the queue. Throws not_found, invalid_request and webhook_endpoint_disabled.
 */
export async function redeliver(
  world: ReplayWorld,
  key: EndpointKey,
  selection: ReplayRange | { eventId: string },
): Promise<{ count: number }> {
  await getEndpoint(world, key);
  const { fromSequence: from, toSequence: to } =
    "eventId" in selection ? await findRange(world, key, selection.eventId) : selection;
  if (from < 1n || to < from || to - from >= REPLAY_MAX) {
    const message = `toSequence must be from fromSequence to ${REPLAY_MAX - 1n} more.`;
    throw new Fault("invalid_request", { param: "toSequence", message });
  }
  const count = await changeQueue(world, key, (tx, endpoint, at) => addReplays(tx, { endpoint, at, from, to }));
  return { count };
}

/** Sends a test event to this endpoint alone, and returns it. Throws not_found and webhook_endpoint_disabled. */
export async function sendTest(world: ReplayWorld, key: EndpointKey): Promise<object> {
  return changeQueue(world, key, async (tx, endpoint, at) => {
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
    return event;
  });
}

type QueueChange<T> = (
  tx: Parameters<typeof lockEndpoint>[0],
  endpoint: Awaited<ReturnType<typeof getEndpoint>>,
  at: Date,
) => Promise<T>;

async function changeQueue<T>(world: ReplayWorld, key: EndpointKey, change: QueueChange<T>): Promise<T> {
  const { number } = await getEndpoint(world, key);
  const at = world.clock.now();
  const result = await world.db.transaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, number);
    if (endpoint === undefined) throw new Fault("not_found", { message: "No such webhook endpoint." });
    if (endpoint.status === "disabled") throw new Fault("webhook_endpoint_disabled");
    const added = await change(tx, endpoint, at);
    await updateEndpoint(tx, number, { due_at: at });
    return added;
  });
  world.wake.notify("webhooks");
  return result;
}

async function findRange({ db }: ReplayWorld, { accountId }: EndpointKey, eventId: string): Promise<ReplayRange> {
  const { rows } = await sql<{ sequence: bigint }>`
    select sequence from event where id = ${idBytes("evt", eventId) ?? new Uint8Array()} and sequence is not null
      and account_number = (select number from account where id = ${accountId})`.execute(db.root);
  const sequence = rows[0]?.sequence;
  if (sequence === undefined) throw new Fault("invalid_request", { param: "eventId", message: "No such event." });
  return { fromSequence: sequence, toSequence: sequence };
}
