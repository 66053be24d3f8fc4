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
 * The page on which a payer pays one intent. Its address carries the widget token in the fragment, which no request contains; the
 * page exchanges it for a cookie that opens what lies below `/c/{intentId}/`. Inside a merchant's page a ticket takes the token's place.
 */
export function addCheckoutRoutes(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  addCheckoutPageRoutes(server, world);
  server.route({
    method: "POST",
    url: `${CHECKOUT_PATH}/session`,
    // Read here for the same reason as in the API: the framework has its own mind about bodies.
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
    throw new Fault("unauthorized", { message: "The page's session is over, or its link was replaced." });
  return intent;
}

/** Some wallets and exchanges read only a bare address. */
function qrText(intent: IntentRow, content: string | undefined): string {
  if (content !== "address") return buildPaymentUri(intent, remainingUnits(intent));
  return displayAddress(payoutChain(intent), intent.inbox_address);
}
