import { Fault } from "../../kernel/faults.ts";
import type { Query } from "../queryText.ts";
import { compileReader } from "./compile.ts";
import type { JsonSchema, Properties, TypeOf } from "./jsonSchema.ts";
import { invalid } from "./violation.ts";

/** What the parameters of a query mean: a parameter with a default is always there. */
export type QueryOf<Parameters> = {
  readonly [Name in keyof Parameters as Parameters[Name] extends { default: unknown } ? Name : never]: TypeOf<
    Parameters[Name]
  >;
} & {
  readonly [Name in keyof Parameters as Parameters[Name] extends { default: unknown } ? never : Name]:
    | TypeOf<Parameters[Name]>
    | undefined;
};

export type ReadQuery = (query: Query) => Record<string, unknown>;

/** A whole number is written in one way only: no sign, no exponent, no zero before it. */
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,15})$/;

/** Makes a query's reader, once at the start. It ignores parameters that it does not know, and refuses known ones given twice or that cannot be decoded. */
export function compileQuery(parameters: Properties): ReadQuery {
  const names = Object.keys(parameters);
  if (names.length === 0) return () => ({});
  const readAll = compileReader({ type: "object", properties: parameters }, "The query");
  return (query) => {
    const given: Record<string, unknown> = {};
    for (const name of names) {
      const value = readOne(name, query[name], parameters[name] ?? {});
      if (value !== undefined) given[name] = value;
    }
    readAll(given);
    return given;
  };
}

function readOne(name: string, text: Query[string], schema: JsonSchema): unknown {
  if (text === undefined) return schema.default;
  if (text === null) {
    const code = schema["x-error-code"];
    throw code === undefined ? invalid(name, "must be percent-encoded UTF-8") : new Fault(code, { param: name });
  }
  if (typeof text !== "string") throw invalid(name, "must be given once");
  return schema.type === "integer" && WHOLE_NUMBER.test(text) ? Number(text) : text;
}
