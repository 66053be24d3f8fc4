import { recordSchema, type JsonSchema } from "../jsonSchema.ts";

/** A page of a list, newest first. */
export function listSchema<const Item extends JsonSchema>(item: Item, itemNames: string) {
  return recordSchema(`A page of ${itemNames}, newest first.`, {
    object: { type: "string", const: "list" },
    data: { type: "array", items: item },
    has_more: { type: "boolean", description: "True when more results follow." },
    next_cursor: {
      type: "string",
      description: "Opaque. Pass it as `cursor` to continue; empty on the last page.",
    },
  });
}

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 10;
const CURSOR_CHARACTERS_MAX = 200;

/** The query parameters of every list. */
export const pageQuery = {
  limit: {
    type: "integer",
    minimum: 1,
    maximum: LIMIT_MAX,
    default: LIMIT_DEFAULT,
    description: "The maximum number of entries on a page.",
  },
  cursor: {
    type: "string",
    minLength: 1,
    maxLength: CURSOR_CHARACTERS_MAX,
    description: "The `next_cursor` of the previous page.",
    "x-error-code": "invalid_cursor",
  },
} as const satisfies Record<string, JsonSchema>;
