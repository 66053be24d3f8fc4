import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** Beyond them new ones are closed at once, before the process has no file descriptor left for its database. */
const CONNECTIONS_MAX = 10_000;
export const REQUESTS_PER_SOCKET_MAX = 1_000;

/** Bounds how many connections there are, and how long one is used. */
export function boundConnections({ server }: FastifyInstance): void {
  server.maxConnections = CONNECTIONS_MAX;
  const counts = new WeakMap<Socket, number>();
  server.prependListener("request", ({ socket }, response) => {
    const count = (counts.get(socket) ?? 0) + 1;
    counts.set(socket, count);
    // Node itself only asks the client to go, and answers whoever stays with 503s of its own, without an envelope and without end.
    if (count >= REQUESTS_PER_SOCKET_MAX) response.setHeader("connection", "close");
  });
}
