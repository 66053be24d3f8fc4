import type { FastifyInstance } from "fastify";
import { assert } from "../kernel/assert.ts";
import type { FaultCode } from "../kernel/faults.ts";
import { validateRequest } from "./checks/validateRequest.ts";
import type { HttpContext } from "./httpContext.ts";
import type { OperationRequest } from "./operation.ts";
import { OPERATIONS } from "./operationList.ts";
import { compileInputParser } from "./checks/inputParser.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a caller of this route is told when the database is away. */
    unavailableFault?: FaultCode | undefined;
  }
}

/** Adds the operations. A slash inside an id, however it is written, makes another path. */
export function addApiRoutes(server: FastifyInstance, context: HttpContext): void {
  for (const operation of OPERATIONS) {
    const parseInput = compileInputParser(operation);
    server.route({
      method: operation.method,
      url: operation.path.replace("{id}", ":id(^[^/]+$)"),
      config: { unavailableFault: operation.unavailableFault },
      // The whole call is answered here, before the framework would read the body in its own order and with its own errors.
      onRequest: async (request, reply) => {
        const validated = await validateRequest(context, operation, {
          request: request as OperationRequest,
          reply,
          readShape: parseInput,
        });
        const { status, body, isReplayed = false } = await operation.handle(context.world, validated);
        reply.code(status).headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
        if (isReplayed) reply.header("idempotent-replayed", "true");
        return reply.send(JSON.stringify(body));
      },
      handler: () => assert(false, `${operation.operationId} was not answered`),
    });
  }
}
