import type { FastifyReply, FastifyRequest } from "fastify";
import {
  findSessionIntent,
  createEmbeddedSession,
  createSession,
  issueTicket,
  SESSION_MS,
  type Ticket,
} from "../../intent/checkout/session.ts";
import { Fault } from "../../kernel/faults.ts";
import { registerView } from "../../view/registerView.ts";
import { parseJsonBody } from "../checks/parseJsonBody.ts";
import { readHeaderValues } from "../checks/readHeaderValues.ts";
import { toWholeSeconds } from "../checks/checkRateLimit.ts";
import { readBody } from "../checks/readBody.ts";
import type { HttpContext } from "../httpContext.ts";
import { toClientNetwork } from "../rate/clientNetwork.ts";
import { compileParser } from "../schema/compileParser.ts";
import { formatSessionCookie } from "./sessionCookie.ts";
import { CHECKOUT_HEADERS } from "./checkoutPage.ts";

export type SessionRequest = FastifyRequest<{ Params: { intentId: string } }>;

const FAILED_OPENS_PER_MINUTE = 600;
/** Far above the size of a credential, because the caller is not authenticated yet. */
const BODY_BYTES_MAX = 4_096;

const credential = { type: ["string", "null"], minLength: 1, maxLength: 100 } as const;
const parseCredentials = compileParser({
  type: "object",
  properties: { widgetToken: credential, ticket: credential },
  additionalProperties: false,
});

/**
 * Opens a session of the page. The page sends the credential from its fragment: the widget token, or in a merchant's page the ticket. A
 * merchant's page requests a ticket without a credential; its Origin header identifies it, because scripts cannot set that header.
 */
export async function handleSessionRequest(
  context: HttpContext,
  request: SessionRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { intentId } = request.params;
  const { widgetToken, ticket } = parseCredentials(
    parseJsonBody(request.raw, await readBody(request.raw, BODY_BYTES_MAX)),
  );
  reply.headers({ ...CHECKOUT_HEADERS, "cache-control": "no-store" });
  if (typeof ticket === "string") {
    const cookie = await createEmbeddedSession(context.world, { intentId, ticket });
    return sendSessionCookie(context, { request, reply }, { cookie, isEmbedded: true });
  }
  if (typeof widgetToken === "string") {
    const cookie = await createSession(context.world, { intentId, widgetToken });
    return sendSessionCookie(context, { request, reply }, { cookie, isEmbedded: false });
  }
  return sendTicket(context, request, reply);
}

type SessionExchange = { request: SessionRequest; reply: FastifyReply };
type OpenedSession = { cookie: string | undefined; isEmbedded: boolean };

async function sendSessionCookie(
  context: HttpContext,
  { request, reply }: SessionExchange,
  opened: OpenedSession,
): Promise<FastifyReply> {
  const { world } = context;
  const { intentId } = request.params;
  const { cookie, isEmbedded } = opened;
  if (cookie === undefined) throw await failedAttemptFault(context, request);
  const intent = await findSessionIntent(world, { intentId, cookie });
  if (intent !== undefined) await registerView(world, intent);
  const isSecure = isEmbedded || world.config.baseUrl.startsWith("https:");
  const header = formatSessionCookie(cookie, { path: `/c/${intentId}`, maxAgeMs: SESSION_MS, isSecure, isEmbedded });
  return reply.code(204).header("set-cookie", header).send();
}

async function sendTicket(context: HttpContext, request: SessionRequest, reply: FastifyReply): Promise<FastifyReply> {
  const [origin, ...others] = readHeaderValues(request.raw, "origin");
  const { intentId } = request.params;
  const ticket: Ticket | undefined =
    origin === undefined || others.length > 0 ? undefined : await issueTicket(context.world, { intentId, origin });
  if (ticket === undefined || origin === undefined) throw await failedAttemptFault(context, request);
  // Only the requesting origin may read the response, and no cache may serve it to another one.
  reply.headers({ "access-control-allow-origin": origin, vary: "Origin" });
  return reply.code(200).send({ ticket: ticket.ticket, expiresAt: ticket.expiresAt.toISOString() });
}

async function failedAttemptFault(context: HttpContext, request: FastifyRequest): Promise<Fault> {
  const result = await context.perUnauthenticatedIp.tryAcquire(
    `checkout ${toClientNetwork(request.ip)}`,
    FAILED_OPENS_PER_MINUTE,
  );
  if (!result.isAllowed) return new Fault("rate_limited", { retryAfterS: toWholeSeconds(result.resetMs) });
  return new Fault("unauthorized", {
    message: "The widget token is not the intent's latest one, and the page's origin may not embed its checkout.",
  });
}
