import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/ids.ts";
import type { World } from "../../world.ts";
import { toErrorEnvelope, faultHeaders } from "../errorEnvelope.ts";

/** Answers requests that the HTTP parser refuses (malformed request line, too many headers, timeout) with 400, in the error envelope. */
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

/** Ignores an unknown Expect header. Node would answer it with a bare 417. */
export function ignoreExpectHeader(server: FastifyInstance): void {
  server.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.server.emit("request", request, response);
  });
}
