import type { OperationFacts } from "../operation.ts";
import type { Query } from "../queryText.ts";
import { compileReader } from "../schema/compile.ts";
import { compileQuery } from "../schema/query.ts";

/** What an operation's schemas make of a query and a body. Throws invalid_request, or the code that the schema names. */
export type ReadShape = (given: { query: Query; body: unknown }) => { query: Record<string, unknown>; body: unknown };

/** Compiles an operation's schemas; done once, at the start. */
export function compileShape({ query: parameters = {}, body: schema }: OperationFacts): ReadShape {
  const readQuery = compileQuery(parameters);
  const readBody = schema === undefined ? () => ({}) : compileReader(schema);
  return ({ query, body }) => ({ query: readQuery(query), body: readBody(body) });
}
