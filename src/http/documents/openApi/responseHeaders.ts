import type { JsonObject } from "./jsonObject.ts";

const wholeSeconds = { type: "integer", minimum: 0 } as const;

/** The response headers. */
export const RESPONSE_HEADERS = {
  "Request-Id": {
    description: "The id of this request. Every response has it.",
    required: true,
    schema: { type: "string", pattern: "^req_[0-9a-hjkmnp-tv-z]{26}$" },
  },
  "Service-Version": {
    description: "The version of this response: the newest one not after the requested date.",
    schema: { type: "string", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" },
  },
  "RateLimit-Limit": {
    description:
      "The limit of requests in any 60 seconds. With two limits, all three headers describe the one with the least room.",
    schema: wholeSeconds,
  },
  "RateLimit-Remaining": { description: "The requests left now.", schema: wholeSeconds },
  "RateLimit-Reset": { description: "Seconds until another request is possible.", schema: wholeSeconds },
  "Retry-After": {
    description: "Whole seconds to wait before a retry.",
    schema: wholeSeconds,
  },
  "WWW-Authenticate": { description: "How to authenticate.", schema: { type: "string" } },
  "Idempotent-Replayed": {
    description: "`true` when this is the stored response of an earlier request with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  "Tributary-As-Of": {
    description:
      "Of an answer from a copy of the database: it shows everything until this time. Without this header everything is shown.",
    schema: { type: "string", format: "date-time" },
  },
} as const satisfies Record<string, JsonObject>;

export type HeaderName = keyof typeof RESPONSE_HEADERS;

export function referenceHeaders(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
