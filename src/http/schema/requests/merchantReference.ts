import type { JsonSchema } from "../jsonSchema.ts";

/** No control characters, line or paragraph separators, or marks that make a text read in another order than it is written. */
export const merchantReference = {
  type: "string",
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$",
  "x-characters": "printable characters",
  examples: ["order 4711"],
} as const satisfies JsonSchema;
