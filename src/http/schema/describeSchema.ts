import type { JsonSchema } from "./jsonSchema.ts";

/** Describes a schema's valid values for a sentence: "a whole number from 1 to 100". It leaves null out. */
export function describeSchema(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.filter((value) => value !== null).join(" or ");
  if (schema.const !== undefined) return String(schema.const);
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  return types.map((type) => TYPE_DESCRIPTIONS[type](schema)).join(" or ") || "something else";
}

const TYPE_DESCRIPTIONS: Record<
  Exclude<Extract<JsonSchema["type"], string>, "null">,
  (schema: JsonSchema) => string
> = {
  string: describeString,
  integer: (schema) => `a whole number${describeRange(schema)}`,
  number: (schema) => `a number${describeRange(schema)}`,
  boolean: () => "true or false",
  object: () => "a JSON object",
  array: ({ minItems, maxItems }) => `a list${describeRange({ minimum: minItems, maximum: maxItems })}`,
};

function describeString({ minLength, maxLength, "x-characters": characters = "characters" }: JsonSchema): string {
  if (maxLength === undefined) return "a string";
  return minLength === undefined
    ? `a string of at most ${maxLength} ${characters}`
    : `a string of ${minLength} to ${maxLength} ${characters}`;
}

function describeRange({ minimum, maximum }: { minimum?: number | undefined; maximum?: number | undefined }): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}
