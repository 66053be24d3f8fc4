import type { JsonSchema } from "../jsonSchema.ts";

/** The body of an operation that needs none. It may be left out. */
export const emptyBody = {
  type: "object",
  properties: {},
  additionalProperties: false,
} as const satisfies JsonSchema;
