import type { JsonSchema } from "./jsonSchema.ts";

/** What a schema asks for, in words that go on a sentence: "a whole number from 1 to 100". Null is not spoken of. */
export function wanted(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.filter((value) => value !== null).join(" or ");
  if (schema.const !== undefined) return String(schema.const);
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  return types.map((type) => WORDS[type](schema)).join(" or ") || "something else";
}

const WORDS: Record<Exclude<Extract<JsonSchema["type"], string>, "null">, (schema: JsonSchema) => string> = {
  string: text,
  integer: (schema) => `a whole number${range(schema)}`,
  number: (schema) => `a number${range(schema)}`,
  boolean: () => "true or false",
  object: () => "a JSON object",
  array: ({ minItems, maxItems }) => `a list${range({ minimum: minItems, maximum: maxItems })}`,
};

function text({ minLength, maxLength, "x-characters": characters = "characters" }: JsonSchema): string {
  if (maxLength === undefined) return "a string";
  return minLength === undefined
    ? `a string of at most ${maxLength} ${characters}`
    : `a string of ${minLength} to ${maxLength} ${characters}`;
}

function range({ minimum, maximum }: { minimum?: number | undefined; maximum?: number | undefined }): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}
