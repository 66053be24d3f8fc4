import { recordSchema } from "../jsonSchema.ts";
import { idSchema, nullableTime, time } from "../values.ts";

export const event = recordSchema("A change, with the resource as it was then.", {
  id: idSchema("evt"),
  object: { type: "string", const: "event" },
  type: { type: "string", description: "The kind of the change.", examples: ["payment_intent.settled"] },
  sequence: {
    type: "integer",
    description: "From 1 and without gaps, per account. 0 for a test event, which is in no feed.",
  },
  livemode: { type: "boolean" },
  apiVersion: { type: "string", description: "The version of this format." },
  createdAt: time,
  intentId: { type: ["string", "null"], description: "Null for an event of the account itself." },
  merchantReference: { type: ["string", "null"], description: "The one of its intent." },
  data: recordSchema("What changed.", {
    object: { type: "object", description: "The resource after the change, as the API shows it." },
    previous: {
      type: ["object", "null"],
      description: "The changed fields with their earlier values; null for a new resource.",
    },
  }),
});

export const auditEntry = recordSchema("Who changed what.", {
  object: { type: "string", const: "audit_entry" },
  number: { type: "integer", description: "Grows with each entry." },
  at: time,
  actor: { type: "string", description: "`operator`, or `key` or `member` and its id.", examples: ["member mem_…"] },
  action: { type: "string", examples: ["payout_change.proposed"] },
  details: { type: "object", description: "What was changed. It contains no secret." },
});

export const eventList = recordSchema("A page of events, oldest first.", {
  object: { type: "string", const: "list" },
  data: { type: "array", items: event },
  has_more: { type: "boolean", description: "True when more events follow. A filtered page may be empty then." },
  next_cursor: { type: "string", description: "The sequence to pass as the next `after`, also on the last page." },
});

const endpointFields = {
  object: { type: "string", const: "webhook_endpoint" },
  webhookEndpointId: idSchema("we"),
  url: { type: "string", description: "Where events are posted." },
  types: {
    type: "array",
    items: { type: "string" },
    description: 'The types that it gets: names, prefixes such as `deposit.*`, or `["*"]` for every type.',
  },
  description: { type: ["string", "null"] },
  status: { type: "string", enum: ["enabled", "disabled"] },
  disabledReason: {
    type: ["string", "null"],
    enum: ["requested", "gone", "failing", null],
    description:
      "`requested` by a PATCH, `gone` after status 410, `failing` after nothing but failures for five days. Only `failing` ends by itself: one try a day.",
  },
  failingSince: { ...nullableTime, description: "The first of the failures since the last success." },
  createdAt: time,
} as const;

export const webhookEndpoint = recordSchema("A URL that gets events.", endpointFields);

export const webhookEndpointWithSecret = recordSchema("A URL that gets events, with its new secret.", {
  ...endpointFields,
  secret: { type: "string", description: "Signs every request. It is shown once.", examples: ["whsec_…"] },
});

export const webhookEndpointList = recordSchema("All endpoints of the account, in the order of their creation.", {
  object: { type: "string", const: "list" },
  data: { type: "array", items: webhookEndpoint },
});

const attempt = recordSchema("One try.", {
  attempt: { type: "integer" },
  at: time,
  url: { type: "string" },
  statusCode: { type: ["integer", "null"], description: "Null when no answer came." },
  error: { type: ["string", "null"], description: "Why no answer came." },
  connectedMs: { type: ["integer", "null"], description: "Milliseconds until the connection stood." },
  firstByteMs: { type: ["integer", "null"], description: "Milliseconds until the answer began." },
  totalMs: { type: "integer", description: "Milliseconds until the answer ended or the try was given up." },
  answer: { type: ["string", "null"], description: "The first 2 KiB of the answer." },
});

export const webhookDelivery = recordSchema("The delivery of one event to one endpoint, with its tries.", {
  object: { type: "string", const: "webhook_delivery" },
  eventId: { type: ["string", "null"], description: "Null once the event is older than events are kept." },
  type: { type: ["string", "null"] },
  sequence: { type: "integer" },
  status: { type: "string", enum: ["pending", "succeeded", "failed"] },
  isReplay: { type: "boolean", description: "Whether it was asked for: a replay or a test." },
  nextTryAt: { ...nullableTime, description: "Null while an earlier event of its intent is pending, and at the end." },
  createdAt: time,
  closedAt: nullableTime,
  attempts: { type: "array", items: attempt },
});
