import { sql, type RawBuilder } from "kysely";

// Every parameter goes to the database as text, encoded here only, so that both drivers send the same. The server
// infers the type from the parameter's position in the statement.

/**
 * The most levels of a JSON value. Deeper values overflow the stack of the embedded database, and no real value is that
 * deep.
 */
export const JSON_DEPTH_MAX = 64;

/** PostgreSQL's own limit on array dimensions. */
const ARRAY_DIMENSIONS_MAX = 6;

export type ElementType = "numeric" | "int8" | "int4" | "text" | "bytea" | "timestamptz" | "boolean" | "jsonb" | "json";
export type ArrayElement = string | number | bigint | boolean | Date | Uint8Array | null;

/** Passes a whole array as one parameter: sql`select … from unnest(${array(amounts, "numeric")})`. */
export function array<T extends ArrayElement>(values: readonly T[], elementType: ElementType): RawBuilder<T[]> {
  return sql<T[]>`${values}::${sql.raw(elementType)}[]`;
}

/**
 * Passes rows as one array for each column: sql`select … from ${unnest("changed", rows, { id: "text", units: "numeric"
 * })}`. The columns are those of `types`, in its order.
 */
export function unnest<Column extends string>(
  name: string,
  rows: readonly Readonly<Record<NoInfer<Column>, ArrayElement>>[],
  types: Readonly<Record<Column, ElementType>>,
): RawBuilder<unknown> {
  const columns = Object.entries<ElementType>(types) as [Column, ElementType][];
  const arrays = columns.map(([column, type]) =>
    array(
      rows.map((row) => row[column]),
      type,
    ),
  );
  return sql`unnest(${sql.join(arrays)}) as ${sql.raw(`${name} (${columns.map(([column]) => column).join(", ")})`)}`;
}

/** Passes a JSON value as one parameter. An array or a string needs it; plain objects need no wrapper. */
export function json<T>(value: T): RawBuilder<T> {
  return sql<T>`${jsonText(value)}::json`;
}

/** Returns PostgreSQL's text for `value`, or null for null. Throws when the text would lose information. */
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

/**
 * Throws a RangeError when arrays and objects in `value` are nested more than `depthMax` levels. It is not recursive.
 */
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
  let elements = "";
  for (const value of values) elements += `${elements === "" ? "" : ","}${encodeElement(value, dimension)}`;
  return `{${elements}}`;
}

/** A batch of rows has thousands of elements, so this avoids work that most of them do not need. */
function encodeElement(value: unknown, dimension: number): string {
  if (value === null) return "NULL";
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return encodeArray(value, dimension + 1);
  const text = typeof value === "string" ? requireWellFormed(value) : encodeParameter(value);
  if (text === null) return "NULL";
  return text.includes('"') || text.includes("\\") ? `"${text.replace(/[\\"]/g, "\\$&")}"` : `"${text}"`;
}

function jsonText(value: unknown): string {
  assertJsonDepth(value, JSON_DEPTH_MAX);
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} is not a JSON value`);
  return text;
}

// PostgreSQL would store a lone surrogate as U+FFFD without an error. Its error for U+0000 names no field.
function requireWellFormed(text: string): string {
  if (text.includes("\0")) throw new RangeError("a text parameter contains U+0000");
  if (!text.isWellFormed()) throw new RangeError("a text parameter contains a lone surrogate");
  return text;
}
