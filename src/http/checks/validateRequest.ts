import type { FastifyReply } from "fastify";
import type { HttpContext } from "../httpContext.ts";
import type { ValidatedRequest, Operation, OperationRequest } from "../operation.ts";
import type { RawQuery } from "../wire/queryString.ts";
import { parseJsonBody } from "./parseJsonBody.ts";
import { readIdempotentRequest } from "./readIdempotentRequest.ts";
import { checkApiKey } from "./checkApiKey.ts";
import { checkRateLimit } from "./checkRateLimit.ts";
import { checkScope } from "./checkScope.ts";
import type { ParseInput } from "./inputParser.ts";
import { readBody } from "./readBody.ts";
import { readHeaderValues } from "./readHeaderValues.ts";
import { checkVersion } from "./checkVersion.ts";

/**
 * Runs all checks of a request in the documented order; the first failure is the response. The route is matched before.
 * Requests without a route still get the version check, and then 404.
 */
export async function validateRequest(
  context: HttpContext,
  operation: Operation,
  exchange: { request: OperationRequest; reply: FastifyReply; readShape: ParseInput },
): Promise<Omit<ValidatedRequest, "limits">> {
  const { request, reply, readShape: parseInput } = exchange;
  const id = request.params.id ?? "";
  checkVersion(context.world.clock, request, reply);
  const caller = await checkApiKey(context, request);
  await checkRateLimit(context, { operation, account: caller.account, id }, reply);
  checkScope(caller, operation);
  const bytes = await readBody(request.raw);
  const body = operation.method === "GET" ? {} : parseJsonBody(request.raw, bytes);
  const input = parseInput({ query: request.query as RawQuery, body });
  const identity = { accountId: caller.account.id, id, body: input.body };
  return {
    account: caller.account,
    scopes: caller.scopes,
    id,
    ...input,
    idempotentRequest: readIdempotentRequest(operation, request.raw, identity),
    lastEventId: readHeaderValues(request.raw, "last-event-id").at(-1),
  };
}
