import type { FastifyInstance, FastifyRequest } from "fastify";
import { renderSVG } from "uqr";
import { payoutChain } from "../../intent/payout.ts";
import { findSessionIntent } from "../../intent/session.ts";
import type { IntentRow } from "../../intent/store.ts";
import { displayAddress } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Door } from "../door.ts";
import { readSessionCookie } from "./cookie.ts";
import { addPage, COMMON_HEADERS, PAGE } from "./page.ts";
import { paymentUri } from "./paymentUri.ts";
import { answerSession, type SessionRequest } from "./session.ts";
import { missingUnits, readStatus } from "./status.ts";

type PageRequest = FastifyRequest<{ Params: { intentId: string }; Querystring: { of?: string } }>;

/**
 * The page on which a payer pays one intent. Its address carries the widget token in the fragment, which no request contains; the
 * page exchanges it for a cookie that opens what lies below `/c/{intentId}/`. Inside a merchant's page a ticket takes the token's place.
 */
export function addCheckout(server: FastifyInstance, door: Door): void {
  const { world } = door;
  addPage(server, world);
  server.route({
    method: "POST",
    url: `${PAGE}/session`,
    // Read here for the same reason as in the API: the framework has its own mind about bodies.
    onRequest: async (request, reply) => answerSession(door, request as SessionRequest, reply),
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

async function getSessionIntent(door: Door, request: PageRequest): Promise<IntentRow> {
  const cookie = readSessionCookie(request.headers.cookie);
  const intent = await findSessionIntent(door.world, { intentId: request.params.intentId, cookie });
  if (intent === undefined)
    throw new Fault("unauthorized", { message: "The page's session is over, or its link was replaced." });
  return intent;
}

/** Some wallets and exchanges read only a bare address. */
function codeText(intent: IntentRow, of: string | undefined): string {
  if (of !== "address") return paymentUri(intent, missingUnits(intent));
  return displayAddress(payoutChain(intent), intent.inbox_address);
}
