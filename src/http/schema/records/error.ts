import type { JsonSchema } from "../jsonSchema.ts";
import { idSchema } from "../values.ts";

/** The error itself, without its envelope. */
export const errorDetail = {
  type: "object",
  required: ["code", "message", "request_id", "docs", "retryable"],
  properties: {
    code: {
      type: "string",
      description: "The code to compare in programs. Its meaning never changes; new codes may be added.",
    },
    message: { type: "string", description: "For people. It may change." },
    request_id: {
      ...idSchema("req"),
      description: "Equal to the Request-Id header. Quote it when you ask for help.",
    },
    docs: { type: "string", format: "uri", description: "The documentation page of this code." },
    retryable: { type: "boolean", description: "Whether the same request may succeed later." },
    param: { type: "string", description: "The field, header or parameter at fault." },
    details: { type: "object", description: "More data; the code's page describes it.", additionalProperties: true },
  },
} as const satisfies JsonSchema;
