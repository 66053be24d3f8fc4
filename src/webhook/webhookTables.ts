import type { Generated, GeneratedAlways } from "kysely";

// The row types of the station webhook.

declare module "../db/schema.ts" {
  interface Schema {
    webhook_endpoint: WebhookEndpointTable;
    webhook_cursor: WebhookCursorTable;
    webhook_delivery: WebhookDeliveryTable;
    webhook_attempt: WebhookAttemptTable;
    account_notification: AccountNotificationTable;
    account_notice: AccountNoticeTable;
  }
}

/**
 * Why an endpoint gets nothing: its merchant asked for it, it answered 410, or nothing but failures came back for days.
 */
export type WebhookDisabledReason = "requested" | "gone" | "failing";

export type WebhookEndpointTable = {
  number: GeneratedAlways<number>;
  id: string;
  account_id: string;
  url: string;
  /** `*`, types, or a prefix such as `deposit.*`. */
  types: string[];
  description: string | null;
  status: "enabled" | "disabled";
  disabled_reason: WebhookDisabledReason | null;
  secret: Uint8Array;
  /** Each signs beside the present one until its time. */
  earlier_secrets: Generated<EarlierSecret[]>;
  /** Events of its account up to this sequence have their deliveries. */
  fanned_sequence: bigint;
  /** Whether later events may exist. */
  is_behind: boolean;
  /** When it has its next turn; null when no delivery waits. */
  due_at: Date | null;
  /** When that was written: in the future, a clock has stepped back since, and the turn has come. */
  due_since: Date | null;
  /** Increases with every lease, so that a process whose lease has ended writes nothing. */
  lease_token: bigint;
  leased_until: Date | null;
  /** Of the first of the failures since the last success; null after a success. */
  failing_since: Date | null;
  failing_reported_at: Date | null;
  /** Of an endpoint that failures disabled: its oldest event that was not delivered. */
  undelivered_sequence: bigint | null;
  /** Events that were asked for again since the time. */
  replays: Generated<number>;
  replays_since: Date | null;
  queue: GeneratedAlways<WebhookQueue>;
  created_at: Date;
  updated_at: Date;
  /** It exists for its last deliveries alone. */
  deleted_at: Date | null;
};

/** Base64, so that it fits into JSON. */
export type EarlierSecret = { secret: string; until: string };

/** Endpoints wait apart: those whose last try succeeded, those whose last try failed, and those disabled by failures. */
export type WebhookQueue = "healthy" | "failing" | "healing";

/** Counters of events up to this revision have marked the endpoints of their accounts. */
export type WebhookCursorTable = { only_row: boolean; counter_revision: bigint };

/** pending → succeeded | failed; failed → pending when its endpoint recovers. */
export type WebhookDeliveryStatus = "pending" | "succeeded" | "failed";

export type WebhookDeliveryTable = {
  endpoint_number: number;
  number: GeneratedAlways<bigint>;
  /** Null for a test event, which is in no feed. */
  event_position: bigint | null;
  /** 0 for a test event. */
  sequence: bigint;
  intent_number: bigint | null;
  /** Asked for again: it waits for other replays of its intent alone. */
  is_replay: boolean;
  test_event: unknown;
  status: WebhookDeliveryStatus;
  tries: number;
  /** Of these tries, the ones before it was opened again. The waits begin anew after them. */
  tries_before: Generated<number>;
  /** Null while an earlier event of its intent is pending. */
  due_at: Date | null;
  /** When that was written, as of an endpoint. */
  due_since: Date | null;
  created_at: Date;
  closed_at: Date | null;
};

export type WebhookAttemptTable = {
  endpoint_number: number;
  delivery_number: bigint;
  attempt: number;
  at: Date;
  url: string;
  status_code: number | null;
  /** Null when an answer came. */
  error: string | null;
  connected_ms: number | null;
  first_byte_ms: number | null;
  total_ms: number;
  /** The first 2 KiB. */
  answer: Uint8Array | null;
};

/** Where an account is told that one of its endpoints fails. */
export type AccountNotificationTable = { account_id: string; url: string; secret: Uint8Array; changed_at: Date };

/** A notice that is to be sent there. */
export type AccountNoticeTable = {
  number: GeneratedAlways<bigint>;
  id: string;
  account_id: string;
  type: string;
  webhook_endpoint_id: string;
  message: string;
  at: Date;
  tries: number;
  due_at: Date;
};
