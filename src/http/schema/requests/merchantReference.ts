import type { JsonSchema } from "../jsonSchema.ts";

/**
 * No controls, separators of lines, marks of direction, and characters without a width or a meaning: two references that differ in
 * nothing but these look alike. The two joiners stay, U+200C and U+200D, as Persian, Hindi and emoji are written with them.
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
