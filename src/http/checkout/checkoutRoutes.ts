import type { FastifyInstance } from "fastify";
import { renderSVG } from "uqr";
import { payoutChain } from "../../intent/payoutAsset.ts";
import { findIntentById, type IntentRow } from "../../intent/store.ts";
import { displayAddress } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import type { HttpContext } from "../httpContext.ts";
import { createCheckoutContext, type CheckoutContext } from "./checkoutContext.ts";
import { readCheckoutStatus, remainingUnits } from "./checkoutStatus.ts";
import { addPageRoutes, CHECKOUT_PATH } from "./pageRoutes.ts";
import { addPaymentRoutes } from "./paymentRoutes.ts";
import { buildPaymentUri } from "./paymentUri.ts";
import { setPrivate } from "./session/publicLimits.ts";
import { requireSession, type CheckoutRequest } from "./session/requireSession.ts";
import { handleSessionRequest } from "./session/sessionHandler.ts";

/**
 * Adds the page on which a payer pays one intent. The URL fragment carries the widget token, and requests never contain a fragment. The
 * page exchanges the token for a session of the paths below `/c/{intentId}/`. A page framed by a merchant uses a ticket instead.
 */
export function addCheckoutRoutes(server: FastifyInstance, httpContext: HttpContext): void {
  const context = createCheckoutContext(httpContext);
  addPageRoutes(server, context);
  addPaymentRoutes(server, context);
  server.route({
    method: "POST",
    url: `${CHECKOUT_PATH}/session`,
    // Reads the body here, as the API does, because the framework would apply its own rules to it.
    onRequest: async (request, reply) => handleSessionRequest(context, request as CheckoutRequest, reply),
    handler: () => undefined,
  });
  server.get(`${CHECKOUT_PATH}/status`, async (request, reply) => {
    const intent = await getSessionIntent(context, request as CheckoutRequest);
    return setPrivate(reply).send(await readCheckoutStatus(context.world, intent));
  });
  server.get<{ Querystring: { of?: string } }>(`${CHECKOUT_PATH}/qr.svg`, async (request, reply) => {
    const intent = await getSessionIntent(context, request as unknown as CheckoutRequest);
    const svg = renderSVG(qrText(intent, request.query.of), { border: 2, ecc: "M" });
    return setPrivate(reply).type("image/svg+xml").send(svg);
  });
}

async function getSessionIntent({ world }: CheckoutContext, request: CheckoutRequest): Promise<IntentRow> {
  const { intentId } = await requireSession(world, request);
  const intent = await findIntentById(world.db, intentId);
  if (intent === undefined) throw new Fault("not_found", { message: "No such intent." });
  return intent;
}

/** Returns a payment URI, or the bare address for wallets and exchanges that read nothing else. */
function qrText(intent: IntentRow, content: string | undefined): string {
  if (content !== "address") return buildPaymentUri(intent, remainingUnits(intent));
  return displayAddress(payoutChain(intent), intent.inbox_address);
}
