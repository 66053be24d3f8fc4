import type { FastifyInstance } from "fastify";
import type { HttpContext } from "../httpContext.ts";
import { createCheckoutContext } from "./checkoutContext.ts";
import { addPageRoutes, CHECKOUT_PATH } from "./pageRoutes.ts";
import { addPaymentRoutes } from "./paymentRoutes.ts";
import type { CheckoutRequest } from "./session/requireSession.ts";
import { handleSessionRequest } from "./session/sessionHandler.ts";
import { addSolanaPayRoutes } from "./solanaPayRoutes.ts";

/**
 * Adds the page on which a payer pays one intent. The URL fragment carries the widget token, and requests never contain
 * a fragment. The page exchanges the token for a session of the paths below `/c/{intentId}/`. A page framed by a
 * merchant uses a ticket instead.
 */
export function addCheckoutRoutes(server: FastifyInstance, httpContext: HttpContext): void {
  const context = createCheckoutContext(httpContext);
  addPageRoutes(server, context);
  addPaymentRoutes(server, context);
  addSolanaPayRoutes(server, context);
  server.route({
    method: "POST",
    url: `${CHECKOUT_PATH}/session`,
    // Reads the body here, as the API does, because the framework would apply its own rules to it.
    onRequest: async (request, reply) => handleSessionRequest(context, request as CheckoutRequest, reply),
    handler: () => undefined,
  });
}
