import type { FastifyInstance, FastifyRequest } from "fastify";
import { renderSVG } from "uqr";
import { payoutChain } from "../../intent/payoutAsset.ts";
import { findSessionIntent } from "../../intent/checkout/session.ts";
import type { IntentRow } from "../../intent/store.ts";
import { displayAddress } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import type { HttpContext } from "../httpContext.ts";
import { parseSessionCookie } from "./sessionCookie.ts";
import { addCheckoutPageRoutes, CHECKOUT_HEADERS, CHECKOUT_PATH } from "./checkoutPage.ts";
import { buildPaymentUri } from "./paymentUri.ts";
import { handleSessionRequest, type SessionRequest } from "./sessionHandler.ts";
import { remainingUnits, readCheckoutStatus } from "./checkoutStatus.ts";

type CheckoutRequest = FastifyRequest<{ Params: { intentId: string }; Querystring: { of?: string } }>;

/**
 * Adds the page on which a payer pays one intent. The URL fragment carries the widget token, and requests never contain a fragment. The
 * page exchanges the token for a session cookie of the paths below `/c/{intentId}/`. A page framed by a merchant uses a ticket instead.
 */
export function addCheckoutRoutes(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  addCheckoutPageRoutes(server, world);
  server.route({
    method: "POST",
    url: `${CHECKOUT_PATH}/session`,
    // Reads the body here, as the API does, because the framework would apply its own rules to it.
    onRequest: async (request, reply) => handleSessionRequest(context, request as SessionRequest, reply),
    handler: () => undefined,
  });
  server.get<{ Params: CheckoutRequest["params"] }>(`${CHECKOUT_PATH}/status`, async (request, reply) => {
    const intent = await getSessionIntent(context, request as CheckoutRequest);
    return reply
      .headers({ ...CHECKOUT_HEADERS, "cache-control": "no-store" })
      .send(await readCheckoutStatus(world, intent));
  });
  server.get<{ Params: CheckoutRequest["params"] }>(`${CHECKOUT_PATH}/qr.svg`, async (request, reply) => {
    const intent = await getSessionIntent(context, request as CheckoutRequest);
    const svg = renderSVG(qrText(intent, (request as CheckoutRequest).query.of), { border: 2, ecc: "M" });
    return reply
      .headers({ ...CHECKOUT_HEADERS, "cache-control": "no-store" })
      .type("image/svg+xml")
      .send(svg);
  });
}

async function getSessionIntent(context: HttpContext, request: CheckoutRequest): Promise<IntentRow> {
  const cookie = parseSessionCookie(request.headers.cookie);
  const intent = await findSessionIntent(context.world, { intentId: request.params.intentId, cookie });
  if (intent === undefined)
    throw new Fault("unauthorized", { message: "The page's session has expired, or a newer link replaced it." });
  return intent;
}

/** Returns a payment URI, or the bare address for wallets and exchanges that read nothing else. */
function qrText(intent: IntentRow, content: string | undefined): string {
  if (content !== "address") return buildPaymentUri(intent, remainingUnits(intent));
  return displayAddress(payoutChain(intent), intent.inbox_address);
}
