import type { JsonSchema } from "../jsonSchema.ts";

const LEVELS_MAX = 5;
const KEYS_MAX = 50;
const KEY_CHARACTERS_MAX = 40;
const TEXT_CHARACTERS_MAX = 500;
const BYTES_MAX = 16_384;

const BOUNDS = [
  `an object of at most ${BYTES_MAX} bytes and ${LEVELS_MAX} levels,`,
  `with at most ${KEYS_MAX} keys a level, keys of at most ${KEY_CHARACTERS_MAX} characters`,
  `and strings of at most ${TEXT_CHARACTERS_MAX}`,
].join(" ");

const leaf: JsonSchema = { type: ["string", "number", "boolean", "null"], maxLength: TEXT_CHARACTERS_MAX };

/** The levels below an object's own, the innermost first: a schema has no other way to count how deep something is nested. */
export const metadataLevels: readonly JsonSchema[] = levelsBelow();

/** The merchant's own object, within bounds that keep it small enough to be carried in every record and event. */
export const metadata = {
  ...objectOf(metadataLevels.at(-1) ?? leaf),
  type: "object",
  description: [
    "Keys and values of the merchant's own. They are kept and returned as given, and mean nothing here.",
    "Of the order of keys one thing is not kept: those that are whole numbers come first, and ascend.",
    `It may be ${BOUNDS}. A number that a double cannot hold exactly is refused: send it as a string.`,
  ].join(" "),
  "x-maxBytes": BYTES_MAX,
  "x-must": `be ${BOUNDS}`,
  examples: [{ customer: "c-4711", basket: { items: 3 } }],
} as const satisfies JsonSchema;

function levelsBelow(): JsonSchema[] {
  const levels: JsonSchema[] = [];
  for (let level = LEVELS_MAX; level > 1; level -= 1) {
    const inner = levels.at(-1) ?? leaf;
    levels.push({
      type: ["string", "number", "boolean", "null", "array", "object"],
      maxLength: TEXT_CHARACTERS_MAX,
      items: inner,
      ...objectOf(inner),
    });
  }
  return levels;
}

function objectOf(inner: JsonSchema) {
  return {
    maxProperties: KEYS_MAX,
    propertyNames: { type: "string", maxLength: KEY_CHARACTERS_MAX },
    additionalProperties: inner,
  } as const;
}
