import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { AssertionFailed } from "../kernel/assert.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import type { World } from "../world.ts";
import { addApi } from "./api.ts";
import { addCheckout } from "./checkout/routes.ts";
import { checkVersion } from "./checks/version.ts";
import { answerConnect, boundConnections, REQUESTS_PER_SOCKET_MAX } from "./connections.ts";
import { discardBody } from "./discard.ts";
import { addHealth } from "./documents/health.ts";
import { addOpenApi } from "./documents/openApi/route.ts";
import { addPages } from "./documents/pages.ts";
import { isDocument } from "./documents/paths.ts";
import { openDoor, type Door } from "./door.ts";
import { sendFault } from "./envelope.ts";
import { faultOf } from "./faultOf.ts";
import { checkFraming } from "./framing.ts";
import { answerParserErrors, takeEveryExpectation } from "./parserErrors.ts";
import { parseQuery } from "./queryText.ts";

export type ServerOptions = {
  /** Told when the program's own reasoning broke, after the caller was answered. */
  onFatal?: (error: unknown) => void;
};

/** Longer than any header section, so that each text that fits into a request reaches the operation. */
const ID_CHARACTERS_MAX = 65_536;
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Node looks every 30 seconds otherwise, which would let a slow sender stay three times as long as the two limits above say. */
const TIMEOUTS_CHECKED_EVERY_MS = 1_000;
const CONNECTION_TIMEOUT_MS = 20_000;

/** The server with everything that it answers; it does not listen yet, and more pages may be added until it does. */
export async function buildServer(world: World, options: ServerOptions = {}): Promise<FastifyInstance> {
  const { trustedProxies = [] } = world.config;
  const server: FastifyInstance = fastify({
    logger: false,
    genReqId: () => newId("req", world.entropy),
    requestIdHeader: false,
    // Whoever is not one of these could call himself anybody.
    trustProxy: [...trustedProxies],
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: ID_CHARACTERS_MAX, querystringParser: parseQuery },
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET_MAX,
    // A request without a Host is served: no answer is ever made from that header.
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUTS_CHECKED_EVERY_MS,
      requireHostHeader: false,
    },
    return503OnClosing: false,
    clientErrorHandler: answerParserErrors(world),
    // A path that cannot be decoded is no route.
    frameworkErrors: (_error, request, reply) => {
      answerError(noRoute(world, request, reply), request, reply);
    },
  });

  function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const fault = faultOf(error, request.routeOptions.config.whenUnavailable);
    if (fault.row.status === 500)
      world.log.error({ err: fault.cause ?? fault, requestId: request.id }, "a call failed");
    if (fault.cause instanceof AssertionFailed) options.onFatal?.(fault.cause);
    const discarding = discardBody(world.clock, request.raw);
    return sendFault(reply, fault, { requestId: request.id, baseUrl: world.config.baseUrl, discarding });
  }

  takeEveryExpectation(server);
  answerConnect(server);
  const connections = boundConnections(server, { trustedProxies, world });
  server.addHook("onRequest", async (request, reply) => {
    const turn = connections.turnOf(request.raw, reply.raw);
    if (turn !== undefined) await turn;
    reply.header("request-id", request.id);
    checkFraming(request.raw, reply);
    // Here and not in the handler, before which the framework would read a body and find fault with it.
    if (request.is404 || hasFragment(request.url)) throw noRoute(world, request, reply);
  });
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  server.setNotFoundHandler((request, reply) => answerError(noRoute(world, request, reply), request, reply));
  const door = openDoor(world);
  tendLimits(server, door);
  addApi(server, door);
  addOpenApi(server, world.config.baseUrl);
  addPages(server, world.config.baseUrl);
  addHealth(server, world);
  addCheckout(server, door);
  return server;
}

/** From the first request to the last. */
function tendLimits(server: FastifyInstance, door: Door): void {
  const ending = new AbortController();
  let tending: Promise<void> | undefined;
  server.addHook("onReady", async () => {
    tending = door.tend(ending.signal);
  });
  server.addHook("onClose", async () => {
    ending.abort();
    await tending;
  });
}

/** Whether a path goes on behind a "#", where the router stops to read. No client sends such a one, and no route has it. */
function hasFragment(url: string): boolean {
  return (url.split("?", 1)[0] ?? "").includes("#");
}

/** Why a path without a route is refused: first how it is written, then its version, where it is no document's. */
function noRoute(world: World, request: FastifyRequest, reply: FastifyReply): Fault {
  try {
    checkFraming(request.raw, reply);
    if (!isDocument(request.url)) checkVersion(world.clock, request, reply);
    return new Fault("not_found", { message: "No route matches this method and path." });
  } catch (error) {
    return faultOf(error);
  }
}
