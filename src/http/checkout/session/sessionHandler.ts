import type { FastifyReply, FastifyRequest } from "fastify";
import {
  issueTicket,
  openSession,
  SESSION_MS,
  type Credential,
  type OpenedSession,
  type Ticket,
} from "../../../intent/checkout/session.ts";
import { findIntentById } from "../../../intent/store.ts";
import { Fault } from "../../../kernel/faults.ts";
import { registerView } from "../../../view/registerView.ts";
import { readHeaderValues } from "../../checks/readHeaderValues.ts";
import { toWholeSeconds } from "../../checks/checkRateLimit.ts";
import type { CheckoutContext } from "../checkoutContext.ts";
import type { RefusalReason, SessionResponse } from "@tributary/checkout/checkoutState";
import { sendPage } from "../sendPage.ts";
import { toClientNetwork } from "../../rate/clientNetwork.ts";
import { readOrigins, readState } from "../state/readState.ts";
import { setPrivate, visitorKey } from "./publicLimits.ts";
import { readSessionRequest, type ReadSessionRequest } from "./readCredential.ts";
import { BEARER_PREFIX, refusalFault, type CheckoutRequest } from "./requireSession.ts";
import { formatSessionCookie } from "./sessionCookie.ts";

const FAILED_OPENS_PER_MINUTE = 600;
const READABLE = { "access-control-allow-origin": "*" };

/**
 * Opens a session of the page. The page sends the credential from its fragment: the widget token, a handoff code, or in
 * a merchant's page the ticket. A merchant's page requests a ticket without a credential; its Origin header identifies
 * it, because scripts cannot set that header. A posted form gets the page itself, which works without JavaScript.
 */
export async function handleSessionRequest(
  context: CheckoutContext,
  request: CheckoutRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { intentId } = request.params;
  setPrivate(reply);
  // A page that asks for a ticket may read that it has to wait.
  await context.limits.acquire("session", request, visitorKey(request, intentId)).catch((error: unknown) => {
    reply.headers(READABLE);
    throw error;
  });
  const sessionRequest = await readSessionRequest(request.raw);
  const { credential } = sessionRequest;
  if (credential === undefined) {
    if (sessionRequest.isForm) return sendRefusal(context, { request, reply }, "unknown");
    return sendTicket(context, request, reply);
  }
  const opened = await openSession(context.world, { intentId, credential });
  if ("refusal" in opened) {
    const limited = await failedAttemptFault(context, request, refusalFault(opened.refusal));
    if (sessionRequest.isForm && limited.code === "unauthorized")
      return sendRefusal(context, { request, reply }, opened.refusal);
    throw limited;
  }
  await registerView(context.world, opened.intent);
  const { isForm, isInMemory } = sessionRequest;
  if (!isInMemory) reply.header("set-cookie", cookieOf(context, opened, credential));
  if (isForm) return sendPage(context, { request, reply }, { state: await readState(context.world, intentId) });
  return sendSession(context, reply, { opened, sessionRequest });
}

type SessionExchange = { request: CheckoutRequest; reply: FastifyReply };

async function sendSession(
  context: CheckoutContext,
  reply: FastifyReply,
  { opened, sessionRequest }: { opened: OpenedSession; sessionRequest: ReadSessionRequest },
): Promise<FastifyReply> {
  const { isInMemory, wantsState } = sessionRequest;
  if (!isInMemory && !wantsState) return reply.code(204).send();
  const { intent } = opened;
  const body: SessionResponse = {
    bearer: isInMemory ? `${BEARER_PREFIX}${opened.value}` : null,
    expiresAt: opened.expiresAt.toISOString(),
    state: wantsState ? ((await readState(context.world, intent.id)) ?? null) : null,
    origins: wantsState && intent.status !== "archived" ? await readOrigins(context.world, intent) : null,
  };
  return reply.code(200).send(body);
}

/** A session from a ticket lives in a frame, whose cookie must be a partitioned one. */
function cookieOf({ world }: CheckoutContext, { value, intent }: OpenedSession, credential: Credential): string {
  const isEmbedded = "ticket" in credential;
  const isSecure = isEmbedded || world.config.baseUrl.startsWith("https:");
  return formatSessionCookie(value, { path: `/c/${intent.id}`, maxAgeMs: SESSION_MS, isSecure, isEmbedded });
}

/** Answers a refused form with the page that says why. */
async function sendRefusal(
  context: CheckoutContext,
  exchange: SessionExchange,
  refusal: RefusalReason,
): Promise<FastifyReply> {
  exchange.reply.code(401);
  return sendPage(context, exchange, { refusal });
}

async function sendTicket(
  context: CheckoutContext,
  request: CheckoutRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const [origin, ...others] = readHeaderValues(request.raw, "origin");
  const { intentId } = request.params;
  const ticket: Ticket | undefined =
    origin === undefined || others.length > 0 ? undefined : await issueTicket(context.world, { intentId, origin });
  if (ticket === undefined || origin === undefined) {
    // A page may learn that it has a wrong id. What a browser hides from an origin that is not listed stays hidden.
    if ((await findIntentById(context.world.db, intentId)) === undefined) reply.headers(READABLE);
    const message = "The page's origin may not embed this checkout, and the request has no credential.";
    throw await failedAttemptFault(context, request, new Fault("unauthorized", { message }));
  }
  // Only the requesting origin may read the response, and no cache may serve it to another one.
  reply.headers({ "access-control-allow-origin": origin, vary: "Origin" });
  return reply.code(200).send({ ticket: ticket.ticket, expiresAt: ticket.expiresAt.toISOString() });
}

/** Counts a failed attempt, and returns its fault or rate_limited. */
async function failedAttemptFault(context: CheckoutContext, request: FastifyRequest, fault: Fault): Promise<Fault> {
  const result = await context.perUnauthenticatedIp.tryAcquire(
    `checkout ${toClientNetwork(request.ip)}`,
    FAILED_OPENS_PER_MINUTE,
  );
  return result.isAllowed ? fault : new Fault("rate_limited", { retryAfterS: toWholeSeconds(result.resetMs) });
}
