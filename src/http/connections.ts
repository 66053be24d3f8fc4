import { ServerResponse, type IncomingMessage } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { callerNetwork } from "./rate/address.ts";

/** Beyond them new ones are closed at once, before the process has no file descriptor left for its database. */
const CONNECTIONS_MAX = 10_000;
/** Where more than half of all stand, nobody gets another one who has more than a tenth of all. */
const CROWDED_PART = 1 / 2;
const OWN_PART = 1 / 10;
export const REQUESTS_PER_SOCKET_MAX = 1_000;

export type Bounds = {
  /** Addresses and networks that speak for many callers. */
  trustedProxies: readonly string[];
  /** CONNECTIONS_MAX when left out. */
  connectionsMax?: number;
};

/** Bounds how many connections there are, how many of them are one caller's, and how long one is used. */
export function boundConnections({ server }: FastifyInstance, bounds: Bounds): void {
  const { trustedProxies, connectionsMax = CONNECTIONS_MAX } = bounds;
  server.maxConnections = connectionsMax;
  shareConnections(server, { trustedProxies, connectionsMax });
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

/** Whoever opens thousands of connections and says nothing on them cannot take the last ones from everybody else. */
function shareConnections(
  server: FastifyInstance["server"],
  { trustedProxies, connectionsMax }: Required<Bounds>,
): void {
  const proxies = blockListOf(trustedProxies);
  const ownCounts = new Map<string, number>();
  let allCount = 0;
  server.prependListener("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const network = callerNetwork(address);
    const ownCount = ownCounts.get(network) ?? 0;
    const isCrowded = allCount >= connectionsMax * CROWDED_PART;
    if (isCrowded && ownCount >= connectionsMax * OWN_PART && !isListed(proxies, address)) {
      socket.destroy();
      return;
    }
    allCount += 1;
    ownCounts.set(network, ownCount + 1);
    socket.once("close", () => {
      allCount -= 1;
      const left = (ownCounts.get(network) ?? 1) - 1;
      if (left === 0) ownCounts.delete(network);
      else ownCounts.set(network, left);
    });
  });
}

function blockListOf(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of addresses) {
    const [address = "", bits] = text.split("/");
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

function isListed(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
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
