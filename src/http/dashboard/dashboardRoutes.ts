import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { ListFilters } from "@tributary/dashboard/merchant/filterForm";
import { eventsPage } from "@tributary/dashboard/merchant/events";
import { paymentPage } from "@tributary/dashboard/merchant/payment";
import { foundPage, paymentsPage } from "@tributary/dashboard/merchant/payments";
import { findEvent, listLatestEvents } from "../../event/listEvents.ts";
import { LOOKED_MAX, type IntentFilter } from "../../intent/lists/listIntentPage.ts";
import { getIntent, listIntents } from "../../intent/readIntents.ts";
import { addMs, parseInstant } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import type { World } from "../../world.ts";
import { toWholeSeconds } from "../checks/checkRateLimit.ts";
import type { HttpContext } from "../httpContext.ts";
import { readPageFromReplica, setAsOf } from "../reads/readFromReplica.ts";
import { addPageFiles, PRIVATE_HEADERS } from "../pages/pageFiles.ts";
import { DASHBOARD_PATH, pageHandler, type PageRequest } from "./dashboardContext.ts";
import { exportPayments } from "./exportPayments.ts";
import { readPaymentDetail, toPaymentRow } from "./paymentViews.ts";
import { searchPayments } from "./searchPayments.ts";
import { addSignInRoutes } from "./signIn/signInRoutes.ts";
import { addCheckoutPages } from "./checkoutPages.ts";
import { addPayoutPages } from "./payoutPages.ts";
import { addSettlementPages } from "./settlementPages.ts";
import { addTeamPages } from "./teamPages.ts";
import { addWebhookPages } from "./webhookPages.ts";

const PAGE_SIZE = 25;
const EXPORTS_PER_MINUTE = 6;

/** Adds the merchant's dashboard. Every page reads the rows of the session's account, and nothing else. */
export function addDashboardRoutes(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  addPageFiles(server, DASHBOARD_PATH, ["dashboard.js", "dashboard.css"]);
  addSignInRoutes(server, context);
  server.get(
    DASHBOARD_PATH,
    pageHandler(context, async (page) => {
      const filters = readFilters(page);
      const cursor = page.query("cursor");
      const { accountId } = page.session;
      const filter = toFilter(world, filters);
      const list = await readPageFromReplica(world, page.reply, (read) =>
        listIntents(read, { accountId, limit: PAGE_SIZE, ...filter, ...(cursor === "" ? {} : { cursor }) }),
      );
      const rows = list.intents.map((intent) => toPaymentRow(world, intent));
      const chains = world.catalog.knownChains.map(({ caip2, name }) => ({ value: caip2, text: name }));
      return paymentsPage(page.view, {
        filters,
        chains,
        rows,
        nextCursor: list.nextCursor,
        isFirstPage: cursor === "",
        lookedMax: list.hasMore && list.intents.length < PAGE_SIZE ? LOOKED_MAX : null,
      });
    }),
  );
  for (const format of ["csv", "jsonl"] as const)
    server.get(
      `${DASHBOARD_PATH}/payments.${format}`,
      pageHandler(context, async (page) => sendExport(context, page, format)),
    );
  server.get(
    `${DASHBOARD_PATH}/search`,
    pageHandler(context, async ({ session, view, query, reply }) => {
      const found = await readPageFromReplica(world, reply, (read) =>
        searchPayments(read, session.accountId, query("q").slice(0, 400)),
      );
      const [only] = found;
      if (only !== undefined && found.length === 1)
        return reply.headers(PRIVATE_HEADERS).redirect(`${DASHBOARD_PATH}/payments/${only.id}`, 303);
      return foundPage(
        view,
        query("q").slice(0, 200),
        found.map((intent) => toPaymentRow(world, intent)),
      );
    }),
  );
  server.get(
    `${DASHBOARD_PATH}/payments/:intentId`,
    pageHandler(context, async ({ session, view, request }) => {
      const { intentId } = request.params as { intentId: string };
      const intent = await getIntent(world, { accountId: session.accountId, intentId });
      return paymentPage(view, await readPaymentDetail(world, intent));
    }),
  );
  addSettlementPages(server, context);
  addWebhookPages(server, context);
  addEventPage(server, context);
  addCheckoutPages(server, context);
  addTeamPages(server, context);
  addPayoutPages(server, context);
}

function addEventPage(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  server.get(
    `${DASHBOARD_PATH}/events`,
    pageHandler(context, async ({ session, view, query, reply }) => {
      const { accountId } = session;
      const before = query("before");
      const events = await readPageFromReplica(world, reply, async ({ db }) => {
        const last = before === "" ? undefined : await findEvent(db, { accountId, eventId: before });
        if (before !== "" && last === undefined) throw new Fault("not_found");
        return listLatestEvents(db, { accountId, intentId: undefined, beforeId: last?.id, limit: PAGE_SIZE + 1 });
      });
      const shown = events.slice(0, PAGE_SIZE);
      return eventsPage(view, {
        events: shown,
        isFirstPage: before === "",
        olderThan: events.length > PAGE_SIZE ? (shown.at(-1)?.id ?? null) : null,
      });
    }),
  );
}

async function sendExport(context: HttpContext, page: PageRequest, format: "csv" | "jsonl") {
  const { session, reply, request } = page;
  const allowed = await context.perVisitor.tryAcquire(`dashboard export ${session.accountId}`, EXPORTS_PER_MINUTE);
  if (!allowed.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(allowed.resetMs) });
  const filter = toFilter(context.world, readFilters(page));
  const lines = exportPayments(context.world, format, { accountId: session.accountId, ...filter });
  setAsOf(reply, (await context.world.replica?.find())?.asOf);
  const type = format === "csv" ? "text/csv; charset=utf-8; header=present" : "application/jsonl; charset=utf-8";
  reply.headers({
    ...PRIVATE_HEADERS,
    "content-type": type,
    "content-disposition": `attachment; filename="payments.${format}"`,
  });
  // A look at the headers reads no row.
  return request.method === "HEAD" ? reply.send() : reply.send(Readable.from(lines));
}

function readFilters({ query }: PageRequest): ListFilters {
  return {
    status: query("status"),
    paymentStatus: query("paymentStatus"),
    createdAfter: query("createdAfter"),
    createdBefore: query("createdBefore"),
    merchantReference: query("merchantReference"),
    chain: query("chain"),
    priceMin: query("priceMin"),
    priceMax: query("priceMax"),
  };
}

const STATUSES = ["active", "settled", "archived"] as const;
const PAYMENT_STATUSES = ["unpaid", "partial", "paid", "overpaid"] as const;

/** Throws not_found for a value that no filter has: a mistyped link must not list other payments. */
function toFilter({ catalog }: Pick<World, "catalog">, filters: ListFilters): Partial<IntentFilter> {
  const pick = <Value extends string>(text: string, known: readonly Value[]): Value | undefined => {
    const value = known.find((each) => each === text);
    if (text !== "" && value === undefined) throw new Fault("not_found");
    return value;
  };
  const { merchantReference } = filters;
  if (merchantReference.includes("\0")) throw new Fault("not_found");
  return {
    merchantReference: merchantReference === "" ? undefined : merchantReference.slice(0, 200),
    status: pick(filters.status, STATUSES),
    paymentStatus: pick(filters.paymentStatus, PAYMENT_STATUSES),
    createdAfter: toInstant(filters.createdAfter, -1),
    createdBefore: toInstant(filters.createdBefore, 0),
    chain: pick(
      filters.chain,
      catalog.knownChains.map(({ caip2 }) => caip2),
    ),
    priceMin: toPrice(filters.priceMin),
    priceMax: toPrice(filters.priceMax),
  };
}

/** Of a decimal such as 25.50. */
function toPrice(text: string): bigint | undefined {
  if (text === "") return undefined;
  const units = text.length > 30 ? undefined : parseUnits(text, PRICE_DECIMALS);
  if (units === undefined) throw new Fault("not_found");
  return units;
}

/** The first moment of a day in UTC, moved by some milliseconds: the filters leave out the moment itself. */
function toInstant(text: string, shiftMs: number): Date | undefined {
  if (text === "") return undefined;
  const instant = /^\d{4}-\d\d-\d\d$/.test(text) ? parseInstant(`${text}T00:00:00Z`) : undefined;
  if (instant === undefined) throw new Fault("not_found");
  return addMs(instant, shiftMs);
}
