import { Fault } from "../../kernel/faults.ts";
import { nearest } from "../../kernel/nearest.ts";

// Reading the fields of a body, one at a time. Null is the same as absent. Everything here throws invalid_request naming the field.

export type Fields = Readonly<Record<string, unknown>>;

/** An object with none but `known` fields; `path` names it in errors, and is undefined for the body itself. */
export function readFields(value: unknown, known: readonly string[], path?: string): Fields {
  if (!isObject(value)) throw invalid(path, "must be a JSON object");
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) throw unknownField(unknown, known, path);
  return value;
}

export function readText(fields: Fields, field: string, bounds: { max: number; path?: string }): string | undefined {
  const value = fields[field] ?? undefined;
  if (value === undefined) return undefined;
  const param = bounds.path === undefined ? field : `${bounds.path}.${field}`;
  if (typeof value !== "string") throw invalid(param, "must be a string");
  if (value === "" || characterCount(value) > bounds.max)
    throw invalid(param, `must have 1 to ${bounds.max} characters`);
  return value;
}

export function readBoolean(fields: Fields, field: string): boolean | undefined {
  const value = fields[field] ?? undefined;
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(field, "must be true or false");
}

/** A JSON number that is a whole one from `min` to the largest that a double holds exactly. */
export function readWholeNumber(fields: Fields, field: string, min: number): number | undefined {
  const value = fields[field] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
  throw invalid(field, `must be a whole number from ${min} to ${Number.MAX_SAFE_INTEGER}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** People count characters, not UTF-16 units. */
export function characterCount(text: string): number {
  return Array.from(text).length;
}

export function invalid(param: string | undefined, must: string): Fault {
  const message = `${param ?? "The body"} ${must}.`;
  return new Fault("invalid_request", param === undefined ? { message } : { param, message });
}

function unknownField(unknown: string, known: readonly string[], path: string | undefined): Fault {
  const name = unknown.slice(0, 80);
  const param = path === undefined ? name : `${path}.${name}`;
  const meant = nearest(name, known);
  const all = known.length === 0 ? "It has none." : `The fields are ${known.join(", ")}.`;
  const remedy = meant === undefined ? all : `Did you mean ${meant}?`;
  const details = meant === undefined ? { known } : { known, nearest: meant };
  return new Fault("invalid_request", {
    param,
    message: `${JSON.stringify(param)} is no field of this request. ${remedy}`,
    details,
  });
}
