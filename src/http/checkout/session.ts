import type { FastifyReply, FastifyRequest } from "fastify";
import {
  findSessionIntent,
  openEmbeddedSession,
  openSession,
  openTicket,
  SESSION_MS,
  type Ticket,
} from "../../intent/session.ts";
import { Fault } from "../../kernel/faults.ts";
import { recordView } from "../../view/recordView.ts";
import { checkBody } from "../checks/body.ts";
import { valuesOf } from "../checks/headerValues.ts";
import { secondsOf } from "../checks/rate.ts";
import { checkSize } from "../checks/size.ts";
import type { Door } from "../door.ts";
import { callerNetwork } from "../rate/address.ts";
import { compileReader } from "../schema/compile.ts";
import { sessionCookie } from "./cookie.ts";
import { COMMON_HEADERS } from "./page.ts";

export type SessionRequest = FastifyRequest<{ Params: { intentId: string } }>;

const OPENINGS_PER_MINUTE = 600;
/** Many times what a credential takes, and little to hold for callers whom nobody knows yet. */
const BODY_BYTES_MAX = 4_096;

const credential = { type: ["string", "null"], minLength: 1, maxLength: 100 } as const;
const readBody = compileReader({
  type: "object",
  properties: { widgetToken: credential, ticket: credential },
  additionalProperties: false,
});

/**
 * Opens a session of the page. The page hands in what its fragment holds: the widget token, or inside a merchant's own page the ticket
 * which that page was given for its address. A merchant's page hands in nothing and is known by its header Origin, which scripts cannot set.
 */
export async function answerSession(door: Door, request: SessionRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { intentId } = request.params;
  const { widgetToken, ticket } = readBody(checkBody(request.raw, await checkSize(request.raw, BODY_BYTES_MAX)));
  reply.headers({ ...COMMON_HEADERS, "cache-control": "no-store" });
  if (typeof ticket === "string") {
    const cookie = await openEmbeddedSession(door.world, { intentId, ticket });
    return sendCookie(door, { request, reply }, { cookie, isEmbedded: true });
  }
  if (typeof widgetToken === "string") {
    const cookie = await openSession(door.world, { intentId, widgetToken });
    return sendCookie(door, { request, reply }, { cookie, isEmbedded: false });
  }
  return sendTicket(door, request, reply);
}

type Call = { request: SessionRequest; reply: FastifyReply };
type Opened = { cookie: string | undefined; isEmbedded: boolean };

async function sendCookie(door: Door, { request, reply }: Call, opened: Opened): Promise<FastifyReply> {
  const { world } = door;
  const { intentId } = request.params;
  const { cookie, isEmbedded } = opened;
  if (cookie === undefined) throw await refusal(door, request);
  const intent = await findSessionIntent(world, { intentId, cookie });
  if (intent !== undefined) await recordView(world, intent);
  const isSecure = isEmbedded || world.config.baseUrl.startsWith("https:");
  const header = sessionCookie(cookie, { path: `/c/${intentId}`, maxAgeMs: SESSION_MS, isSecure, isEmbedded });
  return reply.code(204).header("set-cookie", header).send();
}

async function sendTicket(door: Door, request: SessionRequest, reply: FastifyReply): Promise<FastifyReply> {
  const [origin, ...others] = valuesOf(request.raw, "origin");
  const { intentId } = request.params;
  const ticket: Ticket | undefined =
    origin === undefined || others.length > 0 ? undefined : await openTicket(door.world, { intentId, origin });
  if (ticket === undefined || origin === undefined) throw await refusal(door, request);
  // Only the page that asked may read the answer, and no cache may give it to another one.
  reply.headers({ "access-control-allow-origin": origin, vary: "Origin" });
  return reply.code(200).send({ ticket: ticket.ticket, expiresAt: ticket.expiresAt.toISOString() });
}

async function refusal(door: Door, request: FastifyRequest): Promise<Fault> {
  const taken = await door.perGuesser.take(`checkout ${callerNetwork(request.ip)}`, OPENINGS_PER_MINUTE);
  if (!taken.isAllowed) return new Fault("rate_limited", { retryAfterS: secondsOf(taken.resetMs) });
  return new Fault("unauthorized", {
    message: "This is not the intent's latest widget token, nor a page that may embed its checkout.",
  });
}
