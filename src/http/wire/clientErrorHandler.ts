import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/ids.ts";
import type { World } from "../../world.ts";
import { toErrorEnvelope, faultHeaders } from "../errorEnvelope.ts";

/** What the HTTP parser itself refuses (a malformed request line, too many headers, a request that takes too long) is 400, in the envelope. */
export function createClientErrorHandler(
  world: Pick<World, "entropy" | "config">,
): (error: Error, socket: Socket) => void {
  return (error, socket) => {
    if (!socket.writable || ("code" in error && error.code === "ECONNRESET")) {
      socket.destroy();
      return;
    }
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
  };
}

/** An Expect header that Node does not know would be answered with a bare 417; it is a wish, and is ignored. */
export function ignoreExpectHeader(server: FastifyInstance): void {
  server.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.server.emit("request", request, response);
  });
}
