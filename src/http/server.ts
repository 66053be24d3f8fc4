import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { hasRole } from "../config/operate/roles.ts";
import { observeRequest, type RequestKind } from "../metrics/metrics.ts";
import { classifyError } from "../kernel/errors/classifyError.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import type { Tracing } from "../kernel/tracing/tracing.ts";
import type { World } from "../world.ts";
import { addApiRoutes } from "./apiRoutes.ts";
import { addCheckoutRoutes } from "./checkout/checkoutRoutes.ts";
import { checkVersion } from "./checks/checkVersion.ts";
import { handleConnect, limitConnections, REQUESTS_PER_SOCKET_MAX } from "./wire/limitConnections.ts";
import { drainBody } from "./wire/drainBody.ts";
import { closeConnectionsWhileLeaving, type Leaving } from "./wire/leaving.ts";
import { sendFaultPage, wantsFaultPage } from "./documents/faultPage.ts";
import { addDashboardRoutes } from "./dashboard/dashboardRoutes.ts";
import { addOpsRoutes } from "./ops/opsRoutes.ts";
import { addHealthRoutes } from "./documents/healthRoutes.ts";
import { addOpenApiRoute } from "./documents/openApi/openApiRoute.ts";
import { addDocsRoutes } from "./documents/docsRoutes.ts";
import { addSdkRoutes } from "./documents/sdkRoutes.ts";
import { isDocumentPath } from "./documents/isDocumentPath.ts";
import { createHttpContext, type HttpContext } from "./httpContext.ts";
import { sendFault } from "./errorEnvelope.ts";
import { addHintRoutes } from "./hints/hintRoutes.ts";
import { toFault } from "./toFault.ts";
import { checkFraming } from "./wire/checkFraming.ts";
import { handleClientError, ignoreExpectHeader, trackUnanswered } from "./wire/clientErrorHandler.ts";
import { parseQueryString } from "./wire/queryString.ts";

export type ServerOptions = {
  /** Called when an invariant was broken, after the response was sent. */
  onFatal?: (error: unknown) => void;
  /** Tells the server that the process stops soon. Absent: it never does. */
  leaving?: Leaving;
};

/** Longer than any header section, so that every id that fits into a request reaches the operation. */
const ID_CHARACTERS_MAX = 65_536;
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Node's default of 30 seconds would let a slow sender stay far beyond the two timeouts above. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
const CONNECTION_TIMEOUT_MS = 20_000;

/**
 * Builds the server with all routes; in a process without the role `api`, with the probes alone. It does not listen
 * yet, so callers can add pages.
 */
export async function buildServer(world: World, options: ServerOptions = {}): Promise<FastifyInstance> {
  const { trustedProxies = [] } = world.config;
  const { leaving = { isLeaving: false } } = options;
  const server: FastifyInstance = fastify({
    logger: false,
    genReqId: () => newId("req", world.entropy),
    requestIdHeader: false,
    // Only trusted proxies may set the client address; any other sender could forge it.
    trustProxy: [...trustedProxies],
    // D20: documents answer HEAD. Routes of other kinds opt out.
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: ID_CHARACTERS_MAX, querystringParser: parseQueryString },
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET_MAX,
    // A missing Host is accepted, because no response depends on that header.
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      requireHostHeader: false,
    },
    return503OnClosing: false,
    clientErrorHandler: (error, socket) =>
      handleClientError(world, { error, socket, unanswered: unanswered.of(socket) }),
    // A path that cannot be decoded matches no route.
    frameworkErrors: (_error, request, reply) => {
      sendError(noRouteFault(world, request, reply), request, reply);
    },
  });

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const fault = toFault(error, request.routeOptions.config.unavailableFault);
    if (fault.row.status === 500)
      world.log.error({ err: fault.cause ?? fault, requestId: request.id }, "request failed");
    if (classifyError(fault.cause) === "fatal") options.onFatal?.(fault.cause);
    if (wantsFaultPage(request, fault)) return sendFaultPage(reply, fault, request);
    const draining = drainBody(world.clock, request.raw);
    return sendFault(reply, fault, { requestId: request.id, baseUrl: world.config.baseUrl, discarding: draining });
  }

  const unanswered = trackUnanswered(server);
  ignoreExpectHeader(server);
  handleConnect(server);
  const connections = limitConnections(server, { world });
  closeConnectionsWhileLeaving(server, leaving);
  server.addHook("onRequest", async (request, reply) => {
    const slot = connections.acquireSlot(request.raw, reply.raw);
    if (slot !== undefined) await slot;
    reply.header("request-id", request.id);
    checkFraming(request.raw, reply);
    // Checked in this hook, because before the handler the framework would read the body and report its own errors.
    if (request.is404 || hasFragment(request.url)) throw noRouteFault(world, request, reply);
  });
  observeRequests(server, world);
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  server.setNotFoundHandler((request, reply) => sendError(noRouteFault(world, request, reply), request, reply));
  addHealthRoutes(server, world, leaving);
  if (!hasRole(world.config, "api")) return server;
  const context = createHttpContext(world);
  runRateLimitMaintenance(server, context);
  addApiRoutes(server, context);
  addOpenApiRoute(server, world.config.baseUrl);
  addDocsRoutes(server, world.config.baseUrl);
  addSdkRoutes(server, world.config);
  addCheckoutRoutes(server, context);
  addHintRoutes(server, context);
  addDashboardRoutes(server, context);
  // Of real money, the operator's page is on the listener of the metrics alone.
  if (world.config.environment === "test") addOpsRoutes(server, world);
  return server;
}

/** Measures and logs each answered request, and sends a span where one is asked for. */
function observeRequests(server: FastifyInstance, world: World): void {
  if (world.tracing !== undefined) traceRequests(server, world, world.tracing);
  server.addHook("onResponse", async (request, reply) => {
    const { url: route } = request.routeOptions;
    const { statusCode } = reply;
    const kind = requestKind(route);
    observeRequest(world, { kind, statusCode, seconds: reply.elapsedTime / 1_000 });
    // The route and not the path, in which a payer's code may stand.
    const line = { requestId: request.id, method: request.method, route, status: statusCode };
    world.log.debug({ ...line, ms: Math.round(reply.elapsedTime) }, "request answered");
  });
}

/** A span costs a tenth of a fast read, and says nothing about it. */
const TRACED_READ_MS_MIN = 20;

/** Sends a span for each answered request of the API that changed something, failed or took long. */
function traceRequests(server: FastifyInstance, { clock }: Pick<World, "clock">, tracing: Tracing): void {
  server.addHook("onResponse", async (request, reply) => {
    const { url = "" } = request.routeOptions;
    if (!url.startsWith("/api/")) return;
    const isFastRead = request.method === "GET" && reply.elapsedTime < TRACED_READ_MS_MIN && reply.statusCode < 500;
    if (isFastRead) return;
    const endedMs = clock.now().getTime();
    const { id } = request.params as { id?: string };
    tracing.record({
      // Without the pattern of ids.
      name: `${request.method} ${url.replace("(^[^/]+$)", "")}`,
      intentId: id?.startsWith("pi_") === true ? id : undefined,
      startedMs: endedMs - reply.elapsedTime,
      endedMs,
      attributes: { request_id: request.id, status: reply.statusCode },
    });
  });
}

/** Without a route there is no kind. */
function requestKind(route: string | undefined): RequestKind {
  if (route === undefined) return "none";
  if (route.startsWith("/api/")) return "api";
  return route.startsWith("/c/") ? "checkout" : "document";
}

/** Runs rate-limit maintenance from the first request until the server closes. */
function runRateLimitMaintenance(server: FastifyInstance, context: HttpContext): void {
  const stop = new AbortController();
  let maintenance: Promise<void> | undefined;
  server.addHook("onReady", async () => {
    maintenance = context.runMaintenance(stop.signal);
  });
  server.addHook("onClose", async () => {
    stop.abort();
    await maintenance;
  });
}

/** Whether the path contains a "#", at which the router stops reading. No client sends one, and no route has one. */
function hasFragment(url: string): boolean {
  return (url.split("?", 1)[0] ?? "").includes("#");
}

/** The fault for a path without a route: its framing first, then its version unless it is a document path. */
function noRouteFault(world: World, request: FastifyRequest, reply: FastifyReply): Fault {
  try {
    checkFraming(request.raw, reply);
    if (!isDocumentPath(request.url)) checkVersion(world.clock, request, reply);
    return new Fault("not_found", { message: "No route matches this method and path." });
  } catch (error) {
    return toFault(error);
  }
}
