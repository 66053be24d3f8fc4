/** The number of each type in the database. Numbers are permanent: a new type gets the next one. */
export const EVENT_TYPES = {
  "payment_intent.created": 1,
  "payment_intent.partially_paid": 2,
  "payment_intent.paid": 3,
  "payment_intent.settled": 4,
  "payment_intent.reopened": 5,
  "payment_intent.reversed": 6,
  "payment_intent.archived": 7,
  "source_inbox.issued": 8,
  "deposit.seen": 9,
  "deposit.confirmed": 10,
  "deposit.counted": 11,
  "deposit.held": 12,
  "deposit.dropped": 13,
  "settlement.submitted": 14,
  "settlement.bridging": 15,
  "settlement.landed": 16,
  "settlement.held": 17,
  "settlement.failed": 18,
  "account.updated": 19,
  "webhook_endpoint.failing": 20,
  "webhook_endpoint.disabled": 21,
  "account.feed_restored": 22,
  "account.payout_change_proposed": 23,
  "account.payout_change_confirmed": 24,
  "account.payout_change_stopped": 25,
} as const;

export type EventType = keyof typeof EVENT_TYPES;

const NAMES = new Map<number, EventType>(
  (Object.entries(EVENT_TYPES) as [EventType, number][]).map(([name, number]) => [number, name]),
);

/** Undefined for a number of a later version of this service. */
export function eventTypeName(number: number): EventType | undefined {
  return NAMES.get(number);
}

/** The types whose names begin with a text, such as `deposit.`. */
export function eventTypesBelow(prefix: string): EventType[] {
  return (Object.keys(EVENT_TYPES) as EventType[]).filter((name) => name.startsWith(prefix));
}

/** The numbers of the types that a filter means: one type, or all below a prefix, such as `deposit.*`. */
export function eventTypeNumbers(filter: string): number[] {
  if (filter.endsWith(".*")) return eventTypesBelow(filter.slice(0, -1)).map((name) => EVENT_TYPES[name]);
  return Object.hasOwn(EVENT_TYPES, filter) ? [EVENT_TYPES[filter as EventType]] : [];
}

export type NewEvent = {
  type: EventType;
  accountId: string;
  /** `seq` of its intent; null for an event of the account itself. */
  intentNumber: bigint | null;
  livemode: boolean;
  /** The resource after the change, in the API's form. */
  object: object;
  /** The changed fields with their earlier values; null for a new resource. */
  previous: object | null;
};
