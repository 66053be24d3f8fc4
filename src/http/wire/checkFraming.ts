import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { Fault } from "../../kernel/faults.ts";

/**
 * Refuses requests that a proxy may parse differently from Node, with invalid_request: a Transfer-Encoding besides
 * "chunked" or in HTTP/1.0, a Content-Length without a number, and a second Host. It closes the connection, so that the
 * rest of it is never read.
 */
export function checkFraming(request: IncomingMessage, reply: FastifyReply): void {
  const refusal = findRefusal(request);
  if (refusal === undefined) return;
  reply.header("connection", "close");
  const [header, rule] = refusal;
  throw new Fault("invalid_request", { param: header, message: `${header} ${rule}.` });
}

function findRefusal({
  headers,
  rawHeaders,
  httpVersion,
}: IncomingMessage): readonly [header: string, rule: string] | undefined {
  const { "transfer-encoding": coding, "content-length": length = "0" } = headers;
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return ["Transfer-Encoding", 'may only be "chunked"'];
  if (coding !== undefined && httpVersion === "1.0") return ["Transfer-Encoding", "is not part of HTTP/1.0"];
  if (!/^\d+$/.test(length)) return ["Content-Length", "must be a number"];
  return hasDuplicateHost(rawHeaders) ? ["Host", "must be given once"] : undefined;
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
