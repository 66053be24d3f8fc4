import type { FastifyReply } from "fastify";
import type { Door } from "../door.ts";
import type { Given, Operation, OperationRequest } from "../operation.ts";
import type { Query } from "../queryText.ts";
import { checkBody } from "./body.ts";
import { checkIdempotencyKey } from "./idempotencyKey.ts";
import { checkKey } from "./key.ts";
import { checkRate } from "./rate.ts";
import { checkScope } from "./scope.ts";
import type { ReadShape } from "./shape.ts";
import { checkSize } from "./size.ts";
import { checkVersion } from "./version.ts";

/**
 * What a call must pass, in the promised order: a caller learns of the first thing that is wrong and of nothing behind it. The
 * route was matched just before; where none matched, the version is checked all the same and then the answer is 404.
 */
export async function admit(
  door: Door,
  operation: Operation,
  call: { request: OperationRequest; reply: FastifyReply; readShape: ReadShape },
): Promise<Given> {
  const { request, reply, readShape } = call;
  const id = request.params.id ?? "";
  checkVersion(door.world.clock, request, reply);
  const caller = await checkKey(door, request);
  await checkRate(door, { operation, accountId: caller.account.id, id }, reply);
  checkScope(caller);
  const bytes = await checkSize(request.raw);
  const body = operation.method === "POST" ? checkBody(request.raw, bytes) : {};
  const shaped = readShape({ query: request.query as Query, body });
  const asked = { accountId: caller.account.id, id, body: shaped.body };
  return { account: caller.account, id, ...shaped, call: checkIdempotencyKey(operation, request.raw, asked) };
}
