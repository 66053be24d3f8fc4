import type { Selectable } from "kysely";
import type { WebhookAttemptTable, WebhookDeliveryTable } from "./webhookTables.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX, DAY_MS } from "../kernel/clock.ts";
import type { WebhookEndpoint } from "./endpoint/endpoint.ts";

export type WebhookDelivery = Selectable<WebhookDeliveryTable>;
export type WebhookAttempt = Selectable<WebhookAttemptTable>;

const S = 1_000;
const MIN = 60 * S;
const HOUR = 60 * MIN;

/** The waits after the first try, the second try and so on. After the last one fails the event is given up. */
const RETRY_WAITS_MS = [5 * S, 5 * MIN, 30 * MIN, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const JITTER = 0.1;
/** A receiver may ask for a longer wait, up to this one. */
const RETRY_AFTER_MS_MAX = DAY_MS;

/** Nothing but failures for this long disables an endpoint; after half of it, it is reported. */
const DISABLE_AFTER_MS = 5 * DAY_MS;
const REPORT_AFTER_MS = DISABLE_AFTER_MS / 2;
/** An endpoint that failures disabled is tried again once in this time. */
export const HEAL_WAIT_MS = DAY_MS;

/** So long after the end of a process, others take over its endpoints. A process that runs renews its leases. */
export const LEASE_MS = 8_000;

/** Times of `due_since` above this one were written before a clock stepped back: what they belong to is due. */
export function latestSince(at: Date): Date {
  return addMs(at, CLOCK_DIFFERENCE_MS_MAX);
}

/** Whether a process delivers to the endpoint now. */
export function isLeased({ leased_until: until }: Pick<WebhookEndpoint, "leased_until">, at: Date): boolean {
  return until !== null && until > at && until <= addMs(latestSince(at), LEASE_MS);
}

export type Turn = Pick<WebhookEndpoint, "due_at" | "due_since">;

export const NO_TURN: Turn = { due_at: null, due_since: null };

/**
 * The next turn of an endpoint whose first delivery is due at a time. What is overdue gets its turn behind the endpoints
 * that wait already, so that a backlog delays no other.
 */
export function nextTurn(due: Date | null, at: Date): Turn {
  if (due === null) return NO_TURN;
  return { due_at: due < at ? at : due, due_since: at };
}

/** The turn of an endpoint that got further deliveries: an endpoint that waits keeps its place. */
export function keepTurn(before: Turn, next: Turn): Turn {
  if (before.due_at === null || next.due_at === null) return next;
  return before.due_at <= next.due_at ? { due_at: before.due_at, due_since: before.due_since } : next;
}

/** What one try brought. `stop` is the receiver's wish to get this event, or any event, no more. */
export type TryResult = {
  attempt: Omit<WebhookAttempt, "endpoint_number" | "delivery_number" | "attempt">;
  retryAfterMs: number | undefined;
  stop: "message" | "endpoint" | undefined;
};

export function isSuccess({ attempt: { status_code: status } }: TryResult): boolean {
  return status !== null && status >= 200 && status < 300;
}

/**
 * When the next try is due after a failure; undefined when the event is given up. `random` is from 0 to 1, and spreads
 * the tries of many endpoints.
 */
export function nextTry(tries: number, { at, random, retryAfterMs = 0 }: NextTryInput): Date | undefined {
  const waitMs = RETRY_WAITS_MS[tries - 1];
  if (waitMs === undefined) return undefined;
  const spreadMs = waitMs * (1 - JITTER + 2 * JITTER * random);
  return addMs(at, Math.round(Math.max(spreadMs, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX))));
}

type NextTryInput = { at: Date; random: number; retryAfterMs?: number | undefined };

export type Health = Pick<
  WebhookEndpoint,
  "status" | "disabled_reason" | "failing_since" | "failing_reported_at" | "undelivered_sequence"
>;

export type HealthChange = {
  health: Health;
  /** The events and notices that follow. */
  raised: "webhook_endpoint.failing" | "webhook_endpoint.disabled" | undefined;
  /** A success after failures had disabled it: everything since its oldest undelivered event follows. */
  isHealed: boolean;
};

/** The sequences that were given up in this batch lower `undelivered_sequence` while the endpoint fails. */
export type BatchOutcome = {
  at: Date;
  hasSuccess: boolean;
  firstFailureAt: Date | undefined;
  isGone: boolean;
  givenUp: bigint[];
};

/** Decides how an endpoint is after a batch of tries. */
export function decideHealth(before: Health, batch: BatchOutcome): HealthChange {
  const { at, hasSuccess, firstFailureAt, isGone, givenUp } = batch;
  if (isGone) {
    const health = { ...before, status: "disabled", disabled_reason: "gone" } as const;
    const raised = before.disabled_reason === "gone" ? undefined : "webhook_endpoint.disabled";
    return { health, raised, isHealed: false };
  }
  if (hasSuccess) {
    const isHealed = before.disabled_reason === "failing";
    const revived = isHealed ? ({ status: "enabled", disabled_reason: null } as const) : {};
    const health = {
      ...before,
      ...revived,
      failing_since: null,
      failing_reported_at: null,
      undelivered_sequence: null,
    };
    return { health, raised: undefined, isHealed };
  }
  if (firstFailureAt === undefined) return { health: before, raised: undefined, isHealed: false };
  const since = before.failing_since ?? firstFailureAt;
  const undelivered = [before.undelivered_sequence, ...givenUp].reduce(
    (lowest, sequence) => (sequence !== null && (lowest === null || sequence < lowest) ? sequence : lowest),
    null,
  );
  const failing: Health = { ...before, failing_since: since, undelivered_sequence: undelivered };
  const failingMs = at.getTime() - since.getTime();
  if (before.status === "enabled" && failingMs >= DISABLE_AFTER_MS) {
    const health = { ...failing, status: "disabled", disabled_reason: "failing" } as const;
    return { health, raised: "webhook_endpoint.disabled", isHealed: false };
  }
  if (failingMs < REPORT_AFTER_MS || before.failing_reported_at !== null)
    return { health: failing, raised: undefined, isHealed: false };
  return { health: { ...failing, failing_reported_at: at }, raised: "webhook_endpoint.failing", isHealed: false };
}

/** Parses `Retry-After`: seconds, or a date. */
export function parseRetryAfter(value: string | undefined, at: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim()) * S;
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, until - at.getTime());
}
