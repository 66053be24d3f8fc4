import type { OperationSpec } from "../operation.ts";
import type { RawQuery } from "../wire/queryString.ts";
import { compileParser } from "../schema/compileParser.ts";
import { compileQueryParser } from "../schema/queryParser.ts";

/** What an operation's schemas make of a query and a body. Throws invalid_request, or the code that the schema names. */
export type ParseInput = (given: { query: RawQuery; body: unknown }) => {
  query: Record<string, unknown>;
  body: unknown;
};

/** Compiles an operation's schemas; done once, at the start. */
export function compileInputParser({ query: parameters = {}, body: schema }: OperationSpec): ParseInput {
  const parseQuery = compileQueryParser(parameters);
  const parseBody = schema === undefined ? () => ({}) : compileParser(schema);
  return ({ query, body }) => ({ query: parseQuery(query), body: parseBody(body) });
}
