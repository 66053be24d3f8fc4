export type EventType =
  | "payment_intent.created"
  | "payment_intent.partially_paid"
  | "payment_intent.paid"
  | "payment_intent.settled"
  | "payment_intent.reopened"
  | "payment_intent.reversed"
  | "payment_intent.archived"
  | "source_inbox.issued"
  | "deposit.seen"
  | "deposit.confirmed"
  | "deposit.counted"
  | "deposit.held"
  | "deposit.dropped"
  | "settlement.submitted"
  | "settlement.bridging"
  | "settlement.landed"
  | "settlement.held"
  | "settlement.failed";

export type NewEvent = {
  type: EventType;
  accountId: string;
  intentId: string;
  merchantReference: string | null;
  livemode: boolean;
  /** The resource as the API shows it after the change. */
  object: unknown;
  /** The fields that changed, with their values before; null when the resource is new. */
  previous: unknown;
};
