import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/ids.ts";
import type { World } from "../../world.ts";
import { toErrorEnvelope, faultHeaders } from "../errorEnvelope.ts";

/** The requests of each connection that are not answered yet, in their order. */
export type UnansweredRequests = { of(socket: Socket): readonly Exchange[] };
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

export function trackUnanswered({ server }: Pick<FastifyInstance, "server">): UnansweredRequests {
  const bySocket = new WeakMap<Socket, Set<Exchange>>();
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const exchanges = bySocket.get(request.socket) ?? new Set();
    const exchange = { request, response };
    bySocket.set(request.socket, exchanges.add(exchange));
    response.once("close", () => exchanges.delete(exchange));
  });
  return { of: (socket) => [...(bySocket.get(socket) ?? [])] };
}

/**
 * Answers what the HTTP parser refuses (a malformed request line, too many headers, a timeout) with 400, in the error
 * envelope. Requests that were complete before it are carried out, so each gets its own answer first; the connection
 * then closes.
 */
export function handleClientError(
  world: Pick<World, "entropy" | "config">,
  { error, socket, unanswered }: { error: Error; socket: Socket; unanswered: readonly Exchange[] },
): void {
  if (!socket.writable || ("code" in error && error.code === "ECONNRESET")) {
    socket.destroy();
    return;
  }
  const last = unanswered.findLast(({ request }) => request.complete);
  if (last === undefined) return sendRefusal(world, socket);
  const isOfLaterRequest = last !== unanswered.at(-1);
  last.response.once("close", () => {
    if (!socket.writable) return;
    if (isOfLaterRequest) sendRefusal(world, socket);
    else socket.destroySoon();
  });
}

function sendRefusal(world: Pick<World, "entropy" | "config">, socket: Socket): void {
  const fault = new Fault("invalid_request", {
    message: "The request is not valid HTTP, too large, or took too long.",
  });
  const requestId = newId("req", world.entropy);
  const body = JSON.stringify(toErrorEnvelope(fault, { requestId, baseUrl: world.config.baseUrl }));
  const headers = {
    ...faultHeaders(fault),
    "request-id": requestId,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${head.join("")}\r\n${body}`);
}

/** Ignores an unknown Expect header. Node would answer it with a bare 417. */
export function ignoreExpectHeader(server: FastifyInstance): void {
  server.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.server.emit("request", request, response);
  });
}
