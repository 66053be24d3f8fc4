import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { Fault } from "../../kernel/faults.ts";

/**
 * Refuses requests that a proxy may parse differently from Node, with invalid_request: a Transfer-Encoding besides "chunked", and a second
 * Host. It closes the connection, so that the rest of it is never read.
 */
export function checkFraming({ headers, rawHeaders }: IncomingMessage, reply: FastifyReply): void {
  const coding = headers["transfer-encoding"];
  const isChunkedOrNone = coding === undefined || coding.toLowerCase() === "chunked";
  if (isChunkedOrNone && !hasDuplicateHost(rawHeaders)) return;
  reply.header("connection", "close");
  const header = isChunkedOrNone ? "Host" : "Transfer-Encoding";
  const must = isChunkedOrNone ? "must be given once" : 'may only be "chunked"';
  throw new Fault("invalid_request", { param: header, message: `${header} ${must}.` });
}

/** Node keeps the first Host and ignores the others. */
function hasDuplicateHost(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}
