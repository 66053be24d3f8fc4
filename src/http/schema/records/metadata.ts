import type { JsonSchema } from "../jsonSchema.ts";

const LEVELS_MAX = 5;
const KEYS_MAX = 50;
const KEY_CHARACTERS_MAX = 40;
const TEXT_CHARACTERS_MAX = 500;
const BYTES_MAX = 16_384;

const LIMITS_TEXT = [
  `an object of at most ${BYTES_MAX} bytes and ${LEVELS_MAX} levels,`,
  `with at most ${KEYS_MAX} keys a level, keys of at most ${KEY_CHARACTERS_MAX} characters`,
  `and strings of at most ${TEXT_CHARACTERS_MAX}`,
].join(" ");

const leaf: JsonSchema = { type: ["string", "number", "boolean", "null"], maxLength: TEXT_CHARACTERS_MAX };

/** Schemas of the nested levels, innermost first. JSON Schema can limit the depth only by listing each level. */
export const metadataLevels: readonly JsonSchema[] = buildLevels();

/** The merchant's own object. Its limits keep it small enough for every record and event. */
export const metadata = {
  ...metadataObject(metadataLevels.at(-1) ?? leaf),
  type: "object",
  description: [
    "The merchant's own keys and values. They are stored and returned unchanged, and the service does not interpret them.",
    "The order of keys is kept, except that keys that are whole numbers come first, in ascending order.",
    `It may be ${LIMITS_TEXT}. A number that a double cannot hold exactly is refused: send it as a string.`,
  ].join(" "),
  "x-maxBytes": BYTES_MAX,
  "x-must": `be ${LIMITS_TEXT}`,
  examples: [{ customer: "c-4711", basket: { items: 3 } }],
} as const satisfies JsonSchema;

function buildLevels(): JsonSchema[] {
  const levels: JsonSchema[] = [];
  for (let level = LEVELS_MAX; level > 1; level -= 1) {
    const inner = levels.at(-1) ?? leaf;
    levels.push({
      type: ["string", "number", "boolean", "null", "array", "object"],
      maxLength: TEXT_CHARACTERS_MAX,
      items: inner,
      ...metadataObject(inner),
    });
  }
  return levels;
}

function metadataObject(inner: JsonSchema) {
  return {
    maxProperties: KEYS_MAX,
    propertyNames: { type: "string", maxLength: KEY_CHARACTERS_MAX },
    additionalProperties: inner,
  } as const;
}
