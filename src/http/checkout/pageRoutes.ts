import type { FastifyInstance } from "fastify";
import { findPageLogo } from "../../intent/checkout/pageBrand.ts";
import { Fault } from "../../kernel/faults.ts";
import { idPattern } from "../../kernel/ids.ts";
import type { CheckoutContext } from "./checkoutContext.ts";
import { PAGE_FILES } from "./page/renderPage.ts";
import { prepareFile, sendFile } from "../sendCompressed.ts";
import { sendPage, sendUnknownPage } from "./sendPage.ts";
import { visitorKey } from "./session/publicLimits.ts";
import { findSession, type CheckoutRequest } from "./session/requireSession.ts";
import { readState } from "./state/readState.ts";

/** Only a well-formed intent id has a payment: other texts never become keys of limits, or parameters of statements. */
export const CHECKOUT_PATH = `/c/:intentId(${idPattern("pi")})`;
/** Anything else in the place of an id. */
const MISTYPED_PATH = "/c/:mistyped";

const FILE_HEADERS = {
  link: `</docs/notice>; rel="license"`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
};
/** An image that someone opens by itself is a document, which may run nothing. */
const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
const LOGO_CACHE_S = 300;

/**
 * Adds the page, its files and the merchant's logo. A page that is opened with a valid session comes with its payment.
 */
export function addPageRoutes(server: FastifyInstance, context: CheckoutContext): void {
  const { world } = context;
  server.get(CHECKOUT_PATH, async (request, reply) => {
    const checkoutRequest = request as CheckoutRequest;
    const { intentId } = checkoutRequest.params;
    await context.limits.acquire("page", request, visitorKey(request, intentId));
    const session = await findSession(world, checkoutRequest);
    const state = "refusal" in session ? undefined : await readState(world, intentId);
    return sendPage(context, { request: checkoutRequest, reply }, { state });
  });
  server.get(MISTYPED_PATH, (request, reply) => {
    const fault = new Fault("not_found", { message: "No such intent." });
    if (!/\btext\/html\b/.test(request.headers.accept ?? "")) throw fault;
    return sendUnknownPage(context, { request: request as CheckoutRequest, reply: reply.code(fault.row.status) });
  });
  for (const pageFile of PAGE_FILES) {
    const file = prepareFile(pageFile);
    server.get(`${CHECKOUT_PATH}/${pageFile.name}`, (request, reply) =>
      sendFile(request, reply.headers(FILE_HEADERS), file),
    );
  }
  server.get(`${CHECKOUT_PATH}/logo`, async (request, reply) => {
    const { intentId } = (request as CheckoutRequest).params;
    await context.limits.acquire("page", request, visitorKey(request, intentId));
    const logo = await findPageLogo(world.db, intentId);
    if (logo === undefined) throw new Fault("not_found", { message: "This payment has no logo." });
    const headers = { "content-security-policy": LOGO_POLICY, "cache-control": `private, max-age=${LOGO_CACHE_S}` };
    return reply.headers({ ...FILE_HEADERS, ...headers, "content-type": logo.type }).send(Buffer.from(logo.bytes));
  });
}
