import { payoutChain } from "../../intent/payout.ts";
import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { renderSVG } from "uqr";
import { findSessionIntent, openSession, SESSION_MS } from "../../intent/session.ts";
import type { IntentRow } from "../../intent/store.ts";
import { displayAddress } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { recordView } from "../../view/recordView.ts";
import { checkBody } from "../checks/body.ts";
import { secondsOf } from "../checks/rate.ts";
import { checkSize } from "../checks/size.ts";
import type { Door } from "../door.ts";
import { compileReader } from "../schema/compile.ts";
import { callerNetwork } from "../rate/address.ts";
import { readSessionCookie, sessionCookie } from "./cookie.ts";
import { paymentUri } from "./paymentUri.ts";
import { missingUnits, readStatus } from "./status.ts";

type PageRequest = FastifyRequest<{ Params: { intentId: string }; Querystring: { of?: string } }>;

/** Another text than an id has no page. */
const PAGE = "/c/:intentId(^pi_[0-9a-z]+$)";
const OPENINGS_PER_MINUTE = 600;

const readSession = compileReader({
  type: "object",
  properties: { widgetToken: { type: ["string", "null"], minLength: 1, maxLength: 100 } },
  additionalProperties: false,
});

const ASSETS = {
  "checkout.css": "text/css; charset=utf-8",
  "checkout.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

const COMMON_HEADERS = { "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" } as const;
const PAGE_HEADERS = {
  ...COMMON_HEADERS,
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
} as const;

/**
 * The page on which a payer pays one intent. Its address carries the widget token in the fragment, which no request contains; the
 * page exchanges it for a cookie that opens what lies below `/c/{intentId}/`.
 */
export function addCheckout(server: FastifyInstance, door: Door): void {
  addPage(server);
  const { world } = door;
  server.route({
    method: "POST",
    url: `${PAGE}/session`,
    // Read here for the same reason as in the API: the framework has its own mind about bodies.
    onRequest: async (request, reply) => openPage(door, request as PageRequest, reply),
    handler: () => undefined,
  });
  server.get<{ Params: PageRequest["params"] }>(`${PAGE}/status`, async (request, reply) => {
    const intent = await getSessionIntent(door, request as PageRequest);
    return reply.headers({ ...COMMON_HEADERS, "cache-control": "no-store" }).send(await readStatus(world, intent));
  });
  server.get<{ Params: PageRequest["params"] }>(`${PAGE}/qr.svg`, async (request, reply) => {
    const intent = await getSessionIntent(door, request as PageRequest);
    const svg = renderSVG(codeText(intent, (request as PageRequest).query.of), { border: 2, ecc: "M" });
    return reply
      .headers({ ...COMMON_HEADERS, "cache-control": "no-store" })
      .type("image/svg+xml")
      .send(svg);
  });
}

function addPage(server: FastifyInstance): void {
  const read = (file: string) => readFileSync(new URL(`./page/${file}`, import.meta.url), "utf8");
  const html = read("checkout.html");
  server.get<{ Params: PageRequest["params"] }>(PAGE, (request, reply) =>
    reply.headers(PAGE_HEADERS).send(html.replaceAll("{intentId}", request.params.intentId)),
  );
  for (const [file, type] of Object.entries(ASSETS)) {
    const content = read(file);
    const headers = { ...COMMON_HEADERS, "cache-control": "no-cache", "content-type": type };
    server.get(`${PAGE}/${file}`, (_request, reply) => reply.headers(headers).send(content));
  }
}

async function openPage(door: Door, request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { world } = door;
  const { intentId } = request.params;
  const { widgetToken } = readSession(checkBody(request.headers, await checkSize(request.raw)));
  const cookie = await openSession(world, { intentId, widgetToken: widgetToken ?? "" });
  if (cookie === undefined) throw await refusal(door, request);
  const intent = await findSessionIntent(world, { intentId, cookie });
  if (intent !== undefined) await recordView(world, intent);
  const isSecure = world.config.baseUrl.startsWith("https:");
  const header = sessionCookie(cookie, { path: `/c/${intentId}`, maxAgeMs: SESSION_MS, isSecure });
  return reply
    .code(204)
    .headers({ ...COMMON_HEADERS, "cache-control": "no-store", "set-cookie": header })
    .send();
}

async function getSessionIntent(door: Door, request: PageRequest): Promise<IntentRow> {
  const cookie = readSessionCookie(request.headers.cookie);
  const intent = await findSessionIntent(door.world, { intentId: request.params.intentId, cookie });
  if (intent === undefined)
    throw new Fault("unauthorized", { message: "The page's session is over, or its link was replaced." });
  return intent;
}

async function refusal(door: Door, request: FastifyRequest): Promise<Fault> {
  const taken = await door.perGuesser.take(`checkout ${callerNetwork(request.ip)}`, OPENINGS_PER_MINUTE);
  if (!taken.isAllowed) return new Fault("rate_limited", { retryAfterS: secondsOf(taken.resetMs) });
  return new Fault("unauthorized", { message: "This is not the intent's latest widget token." });
}

/** Some wallets and exchanges read only a bare address. */
function codeText(intent: IntentRow, of: string | undefined): string {
  if (of !== "address") return paymentUri(intent, missingUnits(intent));
  return displayAddress(payoutChain(intent), intent.inbox_address);
}
