import { Fault } from "../../kernel/faults.ts";
import type { RawQuery } from "../wire/queryString.ts";
import { compileParser } from "./compileParser.ts";
import type { JsonSchema, Properties, FromSchema } from "./jsonSchema.ts";
import { invalidParam, unknownNameFault } from "./validationFault.ts";

/** The type of a parsed query. A parameter with a default is always present. */
export type QueryFromSchema<Parameters> = {
  readonly [Name in keyof Parameters as Parameters[Name] extends { default: unknown } ? Name : never]: FromSchema<
    Parameters[Name]
  >;
} & {
  readonly [Name in keyof Parameters as Parameters[Name] extends { default: unknown } ? never : Name]:
    | FromSchema<Parameters[Name]>
    | undefined;
};

export type ParseQuery = (query: RawQuery) => Record<string, unknown>;

/** A whole number has one notation: no sign, no exponent, no leading zero. */
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,15})$/;

/**
 * Compiles a query's parser, once at start. It refuses unknown parameters, and known ones that repeat or cannot be
 * decoded.
 */
export function compileQueryParser(parameters: Properties): ParseQuery {
  const names = Object.keys(parameters);
  const parseValues = compileParser({ type: "object", properties: parameters }, "The query");
  return (query) => {
    const unknown = Object.keys(query).find((name) => !names.includes(name));
    if (unknown !== undefined) throw unknownNameFault(unknown, names, { kind: "query parameter" });
    const values: Record<string, unknown> = {};
    for (const name of names) {
      const value = parseParameter(name, query[name], parameters[name] ?? {});
      if (value !== undefined) values[name] = value;
    }
    parseValues(values);
    return values;
  };
}

function parseParameter(name: string, text: RawQuery[string], schema: JsonSchema): unknown {
  if (text === undefined) return schema.default;
  const refuse = (must: string) => {
    const code = schema["x-error-code"];
    return code === undefined ? invalidParam(name, must) : new Fault(code, { param: name });
  };
  if (text === null) throw refuse("must be percent-encoded UTF-8");
  if (typeof text !== "string") throw invalidParam(name, "must be given once");
  if (text.includes("\0")) throw refuse("must not contain the character U+0000");
  return schema.type === "integer" && WHOLE_NUMBER.test(text) ? Number(text) : text;
}
