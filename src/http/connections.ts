import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** Beyond them new ones are closed at once, before the process has no file descriptor left for its database. */
const CONNECTIONS_MAX = 10_000;
export const REQUESTS_PER_SOCKET_MAX = 1_000;

/** Bounds how many connections there are, and how long one is used. */
export function boundConnections({ server }: FastifyInstance): void {
  server.maxConnections = CONNECTIONS_MAX;
  const counts = new WeakMap<Socket, number>();
  server.prependListener("request", ({ socket, headers }, response) => {
    const count = (counts.get(socket) ?? 0) + 1;
    counts.set(socket, count);
    // Node itself only asks the client to go, and answers whoever stays with 503s of its own, without an envelope and without end.
    if (count >= REQUESTS_PER_SOCKET_MAX) response.setHeader("connection", "close");
    // The wish for another protocol is not granted, but Node's parser drops what it had received behind it.
    if (headers.upgrade !== undefined) response.setHeader("connection", "close");
  });
}

/** CONNECT asks for a tunnel and is a verb without a route like any other; without a listener Node would hang up on it. */
export function answerConnect({ server }: FastifyInstance): void {
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // Node has let go of the socket, its errors included.
    socket.on("error", () => socket.destroy());
    response.once("finish", () => socket.destroySoon());
    server.emit("request", request, response);
  });
}
