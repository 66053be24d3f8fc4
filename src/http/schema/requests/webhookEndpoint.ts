import type { JsonSchema } from "../jsonSchema.ts";
import { recordSchema } from "../jsonSchema.ts";

const url = {
  type: "string",
  minLength: 1,
  maxLength: 2_000,
  description: "A public URL; https in live.",
} as const satisfies JsonSchema;

const types = {
  type: "array",
  items: { type: "string" },
  minItems: 1,
  maxItems: 50,
  "x-must": 'be a list of event types, such as ["payment_intent.settled", "deposit.*"]',
  description: 'Types, prefixes such as `deposit.*`, or `["*"]`.',
} as const satisfies JsonSchema;

const description = {
  type: "string",
  minLength: 1,
  maxLength: 200,
  description: "Your own words.",
} as const satisfies JsonSchema;

export const createWebhookEndpointBody = {
  type: "object",
  properties: { url, types: { ...types, "x-default": "every type" }, description },
  required: ["url"],
  additionalProperties: false,
} as const satisfies JsonSchema;

export const updateWebhookEndpointBody = {
  type: "object",
  properties: {
    url,
    types,
    description,
    status: { type: "string", enum: ["enabled", "disabled"], description: "Whether it gets events." },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const redeliverBody = {
  type: "object",
  properties: {
    eventId: { type: "string", minLength: 1, maxLength: 100, description: "One event." },
    fromSequence: {
      type: "integer",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "The first event of a range.",
    },
    toSequence: {
      type: "integer",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "The last event of the range.",
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const deletedWebhookEndpoint = recordSchema("A deleted endpoint.", {
  deleted: { type: "boolean", const: true },
});

export const redelivered = recordSchema("Events that are delivered again.", {
  count: { type: "integer", description: "The number of events." },
});
