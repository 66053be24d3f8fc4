import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Fault } from "../kernel/faults.ts";

/** What every error answers with. `request_id` is also the header Request-Id. */
export type Envelope = {
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

export type EnvelopeContext = { requestId: string; baseUrl: string };

export function envelopeOf(fault: Fault, { requestId, baseUrl }: EnvelopeContext): Envelope {
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

/** The headers that a fault brings with it, beside those of every answer. */
export function faultHeaders(fault: Fault): Record<string, string> {
  const isKeyAsked = fault.row.status === 401;
  return {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    ...(fault.retryAfterS === undefined ? {} : { "retry-after": String(fault.retryAfterS) }),
    ...(isKeyAsked ? { "www-authenticate": 'Bearer realm="tributary"' } : {}),
  };
}

/**
 * Sends a fault. Where a part of the request is still being discarded, the answer leaves at once and is ended when that is done:
 * a connection that closes while the other side is sending can take the answer with it.
 */
export function sendFault(
  reply: FastifyReply,
  fault: Fault,
  context: EnvelopeContext & { discarding?: Promise<void> | undefined },
): FastifyReply {
  const text = JSON.stringify(envelopeOf(fault, context));
  const { discarding } = context;
  reply.code(fault.row.status).headers({ ...faultHeaders(fault), "request-id": context.requestId });
  if (discarding === undefined) return reply.send(text);
  return reply.header("content-length", Buffer.byteLength(text)).send(Readable.from(endAfter(text, discarding)));
}

async function* endAfter(text: string, discarding: Promise<void>): AsyncGenerator<string> {
  yield text;
  await discarding;
}
