import type { JsonSchema } from "../jsonSchema.ts";

/**
 * Excludes control characters, line separators, bidirectional marks, and invisible or unassigned characters, because
 * references that differ only in those look equal. The joiners U+200C and U+200D are allowed: Persian, Hindi and emoji
 * need them.
 */
export const merchantReference = {
  type: "string",
  minLength: 1,
  maxLength: 200,
  pattern:
    "^[^\\p{Cc}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Cn}\\u00ad\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]*$",
  "x-characters": "printable characters",
  examples: ["order 4711"],
} as const satisfies JsonSchema;
