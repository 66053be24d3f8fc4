import type { OperationSpec } from "../operation.ts";
import type { RawQuery } from "../wire/queryString.ts";
import { compileParser } from "../schema/compileParser.ts";
import { compileQueryParser } from "../schema/queryParser.ts";

/** Validates query and body. Throws invalid_request, or the code that the schema names. */
export type ParseInput = (input: { query: RawQuery; body: unknown }) => {
  query: Record<string, unknown>;
  body: unknown;
};

/** Compiles an operation's schemas, once at start. */
export function compileInputParser({ query: parameters = {}, body: schema }: OperationSpec): ParseInput {
  const parseQuery = compileQueryParser(parameters);
  const parseBody = schema === undefined ? () => ({}) : compileParser(schema);
  return ({ query, body }) => ({ query: parseQuery(query), body: parseBody(body) });
}
