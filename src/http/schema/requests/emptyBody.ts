import type { JsonSchema } from "../jsonSchema.ts";

/** The body of an operation without fields. It may be missing. */
export const emptyBody = {
  type: "object",
  properties: {},
  additionalProperties: false,
} as const satisfies JsonSchema;
