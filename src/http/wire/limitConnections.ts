import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { shareConnections, type SharingWorld } from "./shares.ts";

/** Beyond them each new one takes the place of a quiet one, so that the process has file descriptors left for its database. */
const CONNECTIONS_MAX = 10_000;
export const REQUESTS_PER_SOCKET_MAX = 1_000;
/** Requests of one connection that are worked on at once. Their answers leave in order, so that more would hardly be faster. */
const CONCURRENT_REQUESTS_PER_SOCKET_MAX = 8;

export type ConnectionLimits = {
  /** Addresses and networks that speak for many callers. */
  trustedProxies: readonly string[];
  /** CONNECTIONS_MAX when left out. */
  connectionsMax?: number;
  /** Where refused connections are told. */
  world: SharingWorld;
};

export type ConnectionSlots = {
  /**
   * Resolves when a request of a connection that has many may be worked on; undefined where it may be at once. The turn ends with the
   * response; whoever waits on a connection that was closed meanwhile waits for ever, and is forgotten.
   */
  acquireSlot(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined;
};

/** What a connection has been used for. */
type ConnectionState = {
  requestCount: number;
  running: number;
  waiting: (() => void)[];
  /** Whether something was answered since it was last asked. */
  hadActivity: boolean;
  /** The newest of its requests, and the only one of which not everything may have come. */
  lastRequest: IncomingMessage;
};

/** Bounds how many connections there are, how many of them are one caller's, how long one is used, and for how much at once. */
export function limitConnections(
  { server }: Pick<FastifyInstance, "server">,
  limits: ConnectionLimits,
): ConnectionSlots {
  const { trustedProxies, connectionsMax = CONNECTIONS_MAX, world } = limits;
  // One more than may stand, so that the one too many is seen.
  server.maxConnections = connectionsMax + 1;
  const states = new WeakMap<Socket, ConnectionState>();
  const isIdle = (socket: Socket) => {
    const use = states.get(socket);
    return use === undefined || isIdleState(use);
  };
  shareConnections(server, { trustedProxies, connectionsMax, world, isQuiet: isIdle });
  server.prependListener("request", (request, response) => {
    const { socket, headers } = request;
    const use = states.get(socket) ?? {
      requestCount: 0,
      running: 0,
      waiting: [],
      hadActivity: false,
      lastRequest: request,
    };
    if (use.requestCount === 0) states.set(socket, use);
    use.requestCount += 1;
    use.lastRequest = request;
    // Node itself only asks the client to go, and answers whoever stays with 503s of its own, without an envelope and without end.
    if (use.requestCount >= REQUESTS_PER_SOCKET_MAX) response.setHeader("connection", "close");
    // The wish for another protocol is not granted, but Node's parser drops what it had received behind it.
    if (headers.upgrade !== undefined) response.setHeader("connection", "close");
  });
  return {
    acquireSlot({ socket }, response) {
      const use = states.get(socket);
      return use && acquireRequestSlot(use, response);
    },
  };
}

function isIdleState(use: ConnectionState): boolean {
  const { hadActivity, running, lastRequest } = use;
  use.hadActivity = false;
  // Of one request that has begun nothing can be answered before it is whole.
  return !hadActivity && (running === 0 || (running === 1 && !lastRequest.complete));
}

/** Node takes in all requests that have come, a thousand at once: a few such connections would keep the database from everybody else. */
function acquireRequestSlot(use: ConnectionState, response: ServerResponse): Promise<void> | undefined {
  response.once("close", () => {
    use.hadActivity = true;
    const next = use.waiting.shift();
    if (next === undefined) use.running -= 1;
    else next();
  });
  if (use.running >= CONCURRENT_REQUESTS_PER_SOCKET_MAX) return new Promise((resolve) => use.waiting.push(resolve));
  use.running += 1;
  return undefined;
}

/** CONNECT asks for a tunnel and is a verb without a route like any other; without a listener Node would hang up on it. */
export function handleConnect({ server }: FastifyInstance): void {
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Node has let go of the socket, its errors included.
    socket.on("error", () => socket.destroy());
    try {
      response.assignSocket(socket);
    } catch {
      // An earlier request of the connection has not been answered yet, and there is no queue behind it any more.
      socket.destroy();
      return;
    }
    response.once("finish", () => socket.destroySoon());
    server.emit("request", request, response);
  });
}
