import type { FastifyInstance, FastifyRequest } from "fastify";
import { assert } from "../kernel/assert.ts";
import type { FaultCode } from "../kernel/faults.ts";
import { authenticate } from "../merchant/keys/authenticate.ts";
import { checkScope } from "./checks/checkScope.ts";
import { validateRequest } from "./checks/validateRequest.ts";
import type { HttpContext } from "./httpContext.ts";
import type { Operation, OperationRequest, RateLimit } from "./operation.ts";
import { OPERATIONS } from "./operationList.ts";
import { setAsOf } from "./reads/readFromReplica.ts";
import { compileInputParser } from "./checks/inputParser.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The fault to answer with while the database is unavailable. */
    unavailableFault?: FaultCode | undefined;
  }
}

/** Adds all operations. An id containing a slash, encoded or not, matches no route. */
export function addApiRoutes(server: FastifyInstance, context: HttpContext): void {
  for (const operation of OPERATIONS) {
    const parseInput = compileInputParser(operation);
    server.route({
      method: operation.method,
      exposeHeadRoute: false,
      url: operation.path.replace("{id}", ":id(^[^/]+$)"),
      config: { unavailableFault: operation.unavailableFault },
      // This hook answers the whole request, before the framework reads the body in its own order and with its own
      // errors.
      onRequest: async (request, reply) => {
        const validated = await validateRequest(context, operation, {
          request: request as OperationRequest,
          reply,
          readShape: parseInput,
        });
        const { limit_multiple: multiple } = validated.account;
        const limits = () => computeLimits(multiple);
        const result = await operation.handle(context.world, { ...validated, limits });
        if ("stream" in result) {
          await context.feedStreams.send(
            { ...result.stream, checkCaller: () => checkCaller(context, operation, request) },
            reply,
          );
          return reply;
        }
        const { status, body, isReplayed = false, asOf } = result;
        reply.code(status).headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
        if (isReplayed) reply.header("idempotent-replayed", "true");
        setAsOf(reply, asOf);
        return reply.send(JSON.stringify(body));
      },
      handler: () => assert(false, `${operation.operationId} was not answered`),
    });
  }
  server.addHook("preClose", async () => context.feedStreams.close());
}

/** Authenticates the request of an open stream again, because its key may have been revoked. Throws a Fault. */
async function checkCaller({ world }: HttpContext, operation: Operation, { raw }: FastifyRequest): Promise<void> {
  checkScope(await authenticate(world, raw.headers.authorization), operation);
}

/** The rate limits of every operation, as high as the operator has raised them for the account. */
function computeLimits(multiple: number): readonly RateLimit[] {
  return OPERATIONS.map(({ operationId, perMinute, perMinuteAndIntent = null }) => ({
    operationId,
    perMinute: perMinute * multiple,
    perMinuteAndIntent: perMinuteAndIntent === null ? null : perMinuteAndIntent * multiple,
  }));
}
