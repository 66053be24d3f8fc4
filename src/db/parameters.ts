import { sql, type RawBuilder } from "kysely";

// Every parameter goes to the database as text, written here and nowhere else, so that both drivers mean the same by it.
// The server infers the type from the place where the parameter stands.

/** Deeper JSON than this is refused: the embedded database overflows its stack on deep values, and no honest value is deep. */
export const JSON_DEPTH_MAX = 64;

/** PostgreSQL's own limit of dimensions is 6; nobody here needs more than two. */
const ARRAY_DIMENSIONS_MAX = 6;

export type ElementType = "numeric" | "int8" | "int4" | "text" | "bytea" | "timestamptz" | "boolean" | "jsonb" | "json";
export type ArrayElement = string | number | bigint | boolean | Date | Uint8Array | null;

/** A whole array as one parameter: sql`select … from unnest(${array(amounts, "numeric")})`. */
export function array<T extends ArrayElement>(values: readonly T[], elementType: ElementType): RawBuilder<T[]> {
  return sql<T[]>`${values}::${sql.raw(elementType)}[]`;
}

/** A JSON value as one parameter. Needed where the value may be an array or a string; plain objects may go as they are. */
export function json<T>(value: T): RawBuilder<T> {
  return sql<T>`${jsonText(value)}::json`;
}

/** The text by which PostgreSQL reads `value`; null for null. Throws when the value has no faithful text. */
export function encodeParameter(value: unknown): string | null {
  if (value === null) return null;
  switch (typeof value) {
    case "string":
      return requireWellFormed(value);
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return encodeNumber(value);
    case "object":
      return encodeObject(value);
    default:
      throw new TypeError(`a database parameter cannot be ${typeof value}`);
  }
}

/** Throws a RangeError when arrays and objects in `value` are nested more than `depthMax` levels. It never recurses itself. */
export function assertJsonDepth(value: unknown, depthMax: number): void {
  const pending: [value: unknown, depth: number][] = [[value, 1]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [inner, depth] = next;
    if (typeof inner !== "object" || inner === null) continue;
    if (depth > depthMax) throw new RangeError(`a JSON value is nested more than ${depthMax} levels deep`);
    for (const child of Object.values(inner)) pending.push([child, depth + 1]);
  }
}

function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`a database parameter cannot be ${value}`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`the number ${value} is not exact: use a bigint`);
  return String(value);
}

function encodeObject(value: object): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array)
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`;
  if (Array.isArray(value)) return encodeArray(value, 1);
  return jsonText(value);
}

function encodeArray(values: readonly unknown[], dimension: number): string {
  if (dimension > ARRAY_DIMENSIONS_MAX)
    throw new RangeError(`an array parameter has more than ${ARRAY_DIMENSIONS_MAX} dimensions`);
  const elements = values.map((value) => {
    if (Array.isArray(value)) return encodeArray(value, dimension + 1);
    const text = encodeParameter(value);
    return text === null ? "NULL" : `"${text.replace(/[\\"]/g, "\\$&")}"`;
  });
  return `{${elements.join(",")}}`;
}

function jsonText(value: unknown): string {
  assertJsonDepth(value, JSON_DEPTH_MAX);
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} is no JSON value`);
  return text;
}

// A lone surrogate would be stored as U+FFFD without a word, and U+0000 is an error that names no field.
function requireWellFormed(text: string): string {
  if (text.includes("\0")) throw new RangeError("a text parameter contains U+0000");
  if (!text.isWellFormed()) throw new RangeError("a text parameter contains half of a surrogate pair");
  return text;
}
