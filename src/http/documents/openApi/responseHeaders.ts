import type { JsonObject } from "./jsonObject.ts";

const wholeSeconds = { type: "integer", minimum: 0 } as const;

/** What answers carry beside their bodies. */
export const RESPONSE_HEADERS = {
  "Request-Id": {
    description: "Names this call. Every answer has it.",
    required: true,
    schema: { type: "string", pattern: "^req_[0-9a-hjkmnp-tv-z]{26}$" },
  },
  "Service-Version": {
    description: "The version that answered: the newest one not after the date that was asked for.",
    schema: { type: "string", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" },
  },
  "RateLimit-Limit": {
    description: "Calls in any 60 seconds. With two limits, all three headers speak of the one with the least room.",
    schema: wholeSeconds,
  },
  "RateLimit-Remaining": { description: "Calls that are left now.", schema: wholeSeconds },
  "RateLimit-Reset": { description: "Seconds until there is room again.", schema: wholeSeconds },
  "Retry-After": {
    description: "Whole seconds to wait before the same request is worth another try.",
    schema: wholeSeconds,
  },
  "WWW-Authenticate": { description: "How to authenticate.", schema: { type: "string" } },
  "Idempotent-Replayed": {
    description: "`true` when this is the kept answer of an earlier call with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
} as const satisfies Record<string, JsonObject>;

export type HeaderName = keyof typeof RESPONSE_HEADERS;

export function referenceHeaders(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
