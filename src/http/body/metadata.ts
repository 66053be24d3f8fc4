import { characterCount, invalid, isObject, type Fields } from "./fields.ts";

const LEVELS_MAX = 5;
const KEYS_MAX = 50;
const KEY_CHARACTERS_MAX = 40;
const TEXT_CHARACTERS_MAX = 500;
const BYTES_MAX = 16_384;

/** The merchant's own object, within bounds that keep it small enough to be carried in every record and event. */
export function readMetadata(fields: Fields): object | undefined {
  const value = fields["metadata"] ?? undefined;
  if (value === undefined) return undefined;
  if (!isObject(value)) throw invalid("metadata", "must be an object");
  checkLevel(value, 1);
  if (Buffer.byteLength(JSON.stringify(value)) > BYTES_MAX)
    throw invalid("metadata", `must have at most ${BYTES_MAX} bytes`);
  return value;
}

// It recurses no deeper than the levels that it allows.
function checkLevel(value: unknown, level: number): void {
  if (typeof value === "string" && characterCount(value) > TEXT_CHARACTERS_MAX) {
    throw invalid("metadata", `must have strings of at most ${TEXT_CHARACTERS_MAX} characters`);
  }
  if (typeof value !== "object" || value === null) return;
  if (level > LEVELS_MAX) throw invalid("metadata", `must not be nested more than ${LEVELS_MAX} levels deep`);
  if (!Array.isArray(value)) checkKeys(Object.keys(value));
  for (const inner of Object.values(value)) checkLevel(inner, level + 1);
}

function checkKeys(keys: readonly string[]): void {
  if (keys.length > KEYS_MAX) throw invalid("metadata", `must have at most ${KEYS_MAX} keys a level`);
  if (keys.some((key) => characterCount(key) > KEY_CHARACTERS_MAX)) {
    throw invalid("metadata", `must have keys of at most ${KEY_CHARACTERS_MAX} characters`);
  }
}
