import type { Tx } from "../db/database.ts";
import type { NewEvent } from "../event/event.ts";
import { appendEvents } from "../event/store.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import {
  decideHealth,
  HEAL_WAIT_MS,
  isSuccess,
  nextTry,
  nextTurn,
  NO_TURN,
  type HealthChange,
  type TryResult,
  type Turn,
} from "./delivery.ts";
import {
  findNextDue,
  findOldestSequence,
  releaseNext,
  writeTries,
  type ClosedTry,
  type DueDelivery,
  type Lane,
} from "./deliveryStore.ts";
import { webhookEndpointRecord, type WebhookEndpoint } from "./endpoint/endpoint.ts";
import { lockEndpoint, updateEndpoint, type EndpointLease } from "./endpoint/endpointStore.ts";
import { addNotice } from "./notice/noticeStore.ts";

export type FinishedTry = { delivery: DueDelivery; result: TryResult };

type RecordWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "log" | "wake">;

/**
 * Writes the results of tries, and how the endpoint is after them. Returns the endpoint; undefined when the lease has
 * ended or the endpoint was deleted, so that another process may try the same again.
 */
export async function recordTries(
  world: RecordWorld,
  { lease, finished, isLast }: { lease: EndpointLease; finished: readonly FinishedTry[]; isLast: boolean },
): Promise<WebhookEndpoint | undefined> {
  const at = world.clock.now();
  const outcome = await world.db.transaction(async (tx) => {
    const before = await lockEndpoint(tx, lease.endpoint.number);
    if (before === undefined || before.lease_token !== lease.token) return undefined;
    const tried = finished.map((each) => closeTry(world, each, at));
    await writeTries(tx, {
      endpointNumber: before.number,
      tries: tried,
      attempts: finished.map(({ delivery, result }) => ({
        endpoint_number: before.number,
        delivery_number: delivery.number,
        attempt: delivery.tries + 1,
        ...result.attempt,
      })),
    });
    const lanes = finished.flatMap(({ delivery }, index) =>
      tried[index]?.status === "pending" ? [] : laneOf(delivery),
    );
    await releaseNext(tx, { endpointNumber: before.number, lanes, at });
    const change = decideHealth(before, {
      at,
      hasSuccess: finished.some(({ result }) => isSuccess(result)),
      firstFailureAt: finished.find(({ result }) => !isSuccess(result))?.result.attempt.at,
      // An answer of the URL before a change says nothing of the new one.
      isGone: finished.some(({ result }) => result.stop === "endpoint" && result.attempt.url === before.url),
      givenUp: finished.flatMap(({ delivery }, index) =>
        tried[index]?.status === "failed" && delivery.sequence > 0n && !delivery.is_replay ? [delivery.sequence] : [],
      ),
    });
    const after = await writeHealth(tx, { before, change, at, isLast });
    if (change.raised !== undefined) await raise(tx, world, { endpoint: after, type: change.raised, at });
    return { after, change };
  });
  if (outcome === undefined) return undefined;
  const { after, change } = outcome;
  if (change.raised !== undefined || change.isHealed) {
    world.log.warn({ endpoint: after.id, account: after.account_id, status: after.status }, healthMessage(change));
    world.wake.notify("events");
  }
  return after;
}

function healthMessage({ raised, isHealed }: HealthChange): string {
  if (isHealed) return "webhook endpoint works again";
  return raised === "webhook_endpoint.disabled" ? "webhook endpoint disabled" : "webhook endpoint fails";
}

function laneOf({ intent_number, is_replay }: DueDelivery): Lane[] {
  return intent_number === null ? [] : [{ intent_number, is_replay }];
}

function closeTry(world: RecordWorld, { delivery, result }: FinishedTry, at: Date): ClosedTry {
  const tries = delivery.tries + 1;
  const closed = (status: "succeeded" | "failed") => ({
    number: delivery.number,
    status,
    tries,
    due_at: null,
    due_since: null,
    closed_at: at,
  });
  if (isSuccess(result)) return closed("succeeded");
  if (result.stop === "message") return closed("failed");
  const { retryAfterMs } = result;
  const random = (world.entropy.bytes(1)[0] ?? 0) / 255;
  const due = nextTry(tries - delivery.tries_before, { at, random, retryAfterMs });
  if (due === undefined) return closed("failed");
  return { number: delivery.number, status: "pending", tries, due_at: due, due_since: at, closed_at: null };
}

type HealthWrite = { before: WebhookEndpoint; change: HealthChange; at: Date; isLast: boolean };

async function writeHealth(tx: Tx, { before, change, at, isLast }: HealthWrite): Promise<WebhookEndpoint> {
  const { health, isHealed } = change;
  const isDisabled = health.status === "disabled";
  const oldest = isDisabled ? await findOldestSequence(tx, before.number) : null;
  const undelivered = lowest(health.undelivered_sequence, oldest);
  const restart = lowest(before.undelivered_sequence, before.fanned_sequence + 1n) ?? 1n;
  return updateEndpoint(tx, before.number, {
    status: health.status,
    disabled_reason: health.disabled_reason,
    failing_since: health.failing_since,
    failing_reported_at: health.failing_reported_at,
    undelivered_sequence: health.disabled_reason === "failing" ? undelivered : health.undelivered_sequence,
    ...(isHealed ? { is_behind: true, fanned_sequence: restart - 1n } : {}),
    ...(isLast ? { leased_until: null, ...(await findTurn(tx, { before, health, at })) } : {}),
  });
}

async function findTurn(
  tx: Tx,
  { before, health, at }: { before: WebhookEndpoint; health: HealthChange["health"]; at: Date },
): Promise<Turn> {
  // Of an endpoint that works again, fan-out first opens what was given up, so that each intent's events keep order.
  if (before.status === "disabled" && health.status === "enabled") return NO_TURN;
  if (health.status === "enabled") return nextTurn(await findNextDue(tx, { endpointNumber: before.number, at }), at);
  return health.disabled_reason === "failing" ? { due_at: addMs(at, HEAL_WAIT_MS), due_since: at } : NO_TURN;
}

function lowest(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

type Raised = { endpoint: WebhookEndpoint; type: "webhook_endpoint.failing" | "webhook_endpoint.disabled"; at: Date };

/** Tells the account by its feed and other endpoints, and by the way that it has chosen beside them. */
async function raise(tx: Tx, world: RecordWorld, { endpoint, type, at }: Raised): Promise<void> {
  const event: NewEvent = {
    type,
    accountId: endpoint.account_id,
    intentNumber: null,
    livemode: world.config.environment === "live",
    object: webhookEndpointRecord(endpoint),
    previous: null,
  };
  await appendEvents(tx, world, { events: [event], at });
  await addNotice(tx, world, { endpoint, type, at });
}
