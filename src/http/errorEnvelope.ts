import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Fault } from "../kernel/faults.ts";

/** The body of every error response. `request_id` equals the Request-Id header. */
export type ErrorEnvelope = {
  error: {
    code: string;
    message: string;
    request_id: string;
    docs: string;
    retryable: boolean;
    param?: string;
    details?: Readonly<Record<string, unknown>>;
  };
};

export type ErrorEnvelopeContext = { requestId: string; baseUrl: string };

export function toErrorEnvelope(fault: Fault, { requestId, baseUrl }: ErrorEnvelopeContext): ErrorEnvelope {
  return {
    error: {
      code: fault.code,
      message: fault.message,
      request_id: requestId,
      docs: `${baseUrl}/docs/errors/${fault.code}`,
      retryable: fault.row.retryable,
      ...(fault.param === undefined ? {} : { param: fault.param }),
      ...(fault.details === undefined ? {} : { details: fault.details }),
    },
  };
}

/** The response headers that a fault adds. */
export function faultHeaders(fault: Fault): Record<string, string> {
  const isUnauthorized = fault.row.status === 401;
  return {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    ...(fault.retryAfterS === undefined ? {} : { "retry-after": String(fault.retryAfterS) }),
    ...(isUnauthorized ? { "www-authenticate": 'Bearer realm="tributary"' } : {}),
  };
}

/**
 * Sends a fault. While the rest of the request is still being drained, the response is sent at once and ended after the
 * drain: closing the connection while the client still sends can discard the response.
 */
export function sendFault(
  reply: FastifyReply,
  fault: Fault,
  context: ErrorEnvelopeContext & { discarding?: Promise<void> | undefined },
): FastifyReply {
  const text = JSON.stringify(toErrorEnvelope(fault, context));
  const { discarding: draining } = context;
  reply.code(fault.row.status).headers({ ...faultHeaders(fault), "request-id": context.requestId });
  if (draining === undefined) return reply.send(text);
  return reply.header("content-length", Buffer.byteLength(text)).send(Readable.from(endAfterDrain(text, draining)));
}

async function* endAfterDrain(text: string, draining: Promise<void>): AsyncGenerator<string> {
  yield text;
  await draining;
}
