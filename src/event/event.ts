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
  | "settlement.failed"
  | "account.updated";

export type NewEvent = {
  type: EventType;
  accountId: string;
  /** Null for an event of the account itself. */
  intentId: string | null;
  merchantReference: string | null;
  livemode: boolean;
  /** The resource after the change, in the API's form. */
  object: unknown;
  /** The changed fields with their earlier values; null for a new resource. */
  previous: unknown;
};
