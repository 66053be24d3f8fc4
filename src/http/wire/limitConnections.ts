import { ServerResponse, type IncomingMessage, type Server } from "node:http";
import type { DropArgument, Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { World } from "../../world.ts";

/** Leaves the process file descriptors for its database. A reverse proxy limits how many of them one caller gets. */
const CONNECTIONS_MAX = 10_000;
export const REQUESTS_PER_SOCKET_MAX = 1_000;
/** Requests of one connection that run at once. Responses leave in order, so more would hardly be faster. */
const CONCURRENT_REQUESTS_PER_SOCKET_MAX = 8;
const DROP_LOG_INTERVAL_MS = 60_000;

export type ConnectionLimits = {
  /** CONNECTIONS_MAX when left out. */
  connectionsMax?: number;
  world: Pick<World, "clock" | "log">;
};

export type ConnectionSlots = {
  /**
   * Resolves when a request may run; undefined where it may at once. The slot ends with the response. A request that
   * waits on a connection which closes meanwhile never resolves and is garbage-collected.
   */
  acquireSlot(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined;
};

type ConnectionState = { requestCount: number; running: number; waiting: (() => void)[] };

/** Limits the connections of the server, the requests of a connection, and how many of those run at once. */
export function limitConnections(
  { server }: Pick<FastifyInstance, "server">,
  { connectionsMax = CONNECTIONS_MAX, world }: ConnectionLimits,
): ConnectionSlots {
  server.maxConnections = connectionsMax;
  logDroppedConnections(server, world);
  const states = new WeakMap<Socket, ConnectionState>();
  server.prependListener("request", ({ socket, headers }, response) => {
    const state = states.get(socket) ?? { requestCount: 0, running: 0, waiting: [] };
    if (state.requestCount === 0) states.set(socket, state);
    state.requestCount += 1;
    // Node only asks the client to close, and answers further requests with 503s without an envelope, without end.
    if (state.requestCount >= REQUESTS_PER_SOCKET_MAX) response.setHeader("connection", "close");
    // The service grants no upgrade, but Node's parser drops what it has received behind the request.
    if (headers.upgrade !== undefined) response.setHeader("connection", "close");
  });
  return {
    acquireSlot({ socket }, response) {
      const state = states.get(socket);
      return state && acquireRequestSlot(state, response);
    },
  };
}

/** Logs the first dropped connection, then at most one line a minute: a flood of connections must not flood the log. */
function logDroppedConnections(server: Server, { clock, log }: ConnectionLimits["world"]): void {
  let count = 0;
  let quietUntilMs = -Infinity;
  server.on("drop", (dropped?: DropArgument) => {
    count += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs < quietUntilMs) return;
    log.warn({ from: dropped?.remoteAddress, count }, "too many connections");
    count = 0;
    quietUntilMs = nowMs + DROP_LOG_INTERVAL_MS;
  });
}

/**
 * Node starts all pipelined requests, a thousand at once: a few such connections would take the whole database pool.
 */
function acquireRequestSlot(state: ConnectionState, response: ServerResponse): Promise<void> | undefined {
  response.once("close", () => {
    const next = state.waiting.shift();
    if (next === undefined) state.running -= 1;
    else next();
  });
  if (state.running >= CONCURRENT_REQUESTS_PER_SOCKET_MAX) return new Promise((resolve) => state.waiting.push(resolve));
  state.running += 1;
  return undefined;
}

/** Routes CONNECT like any other method. Without a listener Node would close the connection. */
export function handleConnect({ server }: FastifyInstance): void {
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Node has detached the socket, including its error handling.
    socket.on("error", () => socket.destroy());
    try {
      response.assignSocket(socket);
    } catch {
      // An earlier request of the connection is not answered yet, and Node queues nothing after it.
      socket.destroy();
      return;
    }
    response.once("finish", () => socket.destroySoon());
    server.emit("request", request, response);
  });
}
