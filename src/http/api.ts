import type { FastifyInstance } from "fastify";
import { assert } from "../kernel/assert.ts";
import type { FaultCode } from "../kernel/faults.ts";
import { admit } from "./checks/admit.ts";
import type { Door } from "./door.ts";
import type { OperationRequest } from "./operation.ts";
import { OPERATIONS } from "./operationList.ts";
import { compileShape } from "./checks/shape.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a caller of this route is told when the database is away. */
    whenUnavailable?: FaultCode | undefined;
  }
}

/** Adds the operations. A slash inside an id, however it is written, makes another path. */
export function addApi(server: FastifyInstance, door: Door): void {
  for (const operation of OPERATIONS) {
    const readShape = compileShape(operation);
    server.route({
      method: operation.method,
      url: operation.path.replace("{id}", ":id(^[^/]+$)"),
      config: { whenUnavailable: operation.whenUnavailable },
      // The whole call is answered here, before the framework would read the body in its own order and with its own errors.
      onRequest: async (request, reply) => {
        const given = await admit(door, operation, { request: request as OperationRequest, reply, readShape });
        const { status, body, isReplayed = false } = await operation.answer(door.world, given);
        reply.code(status).headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
        if (isReplayed) reply.header("idempotent-replayed", "true");
        return reply.send(JSON.stringify(body));
      },
      handler: () => assert(false, `${operation.operationId} was not answered`),
    });
  }
}
