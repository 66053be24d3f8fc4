import type { FastifyReply, FastifyRequest } from "fastify";
import {
  MERCHANT_LOCALES,
  drawMerchantPage,
  merchantContext,
  renderProblem,
  toDocument,
  type MerchantContext,
  type MerchantPage,
  type PageProblem,
} from "@tributary/dashboard/merchant/frame";
import { renderKeySignIn, renderLinkSignIn, type SignInProblem } from "@tributary/dashboard/merchant/signIn";
import { checkSession, type DashboardSession } from "../../dashboard/session.ts";
import { displayAddress } from "../../kernel/caip.ts";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";
import { Fault } from "../../kernel/faults.ts";
import { toWholeSeconds } from "../checks/checkRateLimit.ts";
import { chooseLocale } from "../checkout/locale.ts";
import type { HttpContext } from "../httpContext.ts";
import { PAGE_HEADERS, PRIVATE_HEADERS, readCookies } from "../pages/pageFiles.ts";
import { sendDocument } from "../sendCompressed.ts";

export const COOKIE = "tributary_dashboard";
export const DASHBOARD_PATH = "/dashboard";
/** Of one session, and of all sessions of an account: a key signs in as often as it likes. */
const READS_PER_MINUTE = 240;
const ACCOUNT_READS_PER_MINUTE = 480;
/** A longer wait is that of a day's changes. */
const LONG_S = 120;
/** What a page's script asks for to bring an open page up to date: the page's elements. */
const DRAWING_TYPE = "application/json";

export type Exchange = { request: FastifyRequest; reply: FastifyReply };

/** What a page is made from: whose it is, the texts, and the query as texts. */
export type PageRequest = Exchange & {
  session: DashboardSession;
  view: MerchantContext;
  query: (name: string) => string;
};

type PageMaker = (page: PageRequest) => Promise<MerchantPage | FastifyReply>;

/** Answers a page of a signed-in account. Without a session it is the sign-in, and an error is a page that says so. */
export function pageHandler(
  context: HttpContext,
  make: PageMaker,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return (request, reply) =>
    answerPage(context, { request, reply }, async (page) => {
      await limitReads(context, page.session);
      return make(page);
    });
}

export async function answerPage(context: HttpContext, exchange: Exchange, make: PageMaker): Promise<FastifyReply> {
  const { request } = exchange;
  const view = viewOf(context, request);
  try {
    const session = await readSession(context, request);
    if (session === undefined) return await sendSignIn(context, exchange, null);
    const made = await make({ ...exchange, session, view, query: (name) => queryTextOnce(request, name) });
    if (!("content" in made)) return made;
    const { accountName, viewer: by, expiresAt, token } = session;
    const { environment } = context.world.config;
    const signedInBy =
      by.kind === "key" ? { key: by.keyId } : { wallet: displayAddress(`${by.namespace}:1`, by.wallet), role: by.role };
    const viewer = { accountName, signedInBy, expiresAt: expiresAt.toISOString(), environment, token };
    const page = drawMerchantPage(view, viewer, made);
    if (request.headers.accept !== DRAWING_TYPE) return await sendHtml(exchange, toDocument(view, page));
    exchange.reply.headers({
      ...PRIVATE_HEADERS,
      "content-type": DRAWING_TYPE,
      vary: "Accept, Accept-Encoding, Cookie",
    });
    return await sendDocument(request, exchange.reply, JSON.stringify(page));
  } catch (error) {
    return sendProblem(context, exchange, error);
  }
}

async function sendProblem(context: HttpContext, exchange: Exchange, error: unknown): Promise<FastifyReply> {
  const problem = problemOf(error);
  if (problem === undefined) throw error;
  const { host } = new URL(context.world.config.baseUrl);
  const status = { notFound: 404, limited: 429, limitedDay: 429, away: 503, foreign: 403, scope: 403 }[problem];
  if (error instanceof Fault && error.retryAfterS !== undefined)
    exchange.reply.header("retry-after", String(error.retryAfterS));
  exchange.reply.code(status);
  return sendHtml(exchange, renderProblem(viewOf(context, exchange.request), host, problem));
}

function problemOf(error: unknown): PageProblem | undefined {
  if (error instanceof Fault) {
    if (error.code === "unauthorized") return "foreign";
    if (error.code === "insufficient_scope") return "scope";
    if (error.code === "rate_limited") return (error.retryAfterS ?? 0) > LONG_S ? "limitedDay" : "limited";
    return error.row.status === 404 || error.row.status === 400 ? "notFound" : undefined;
  }
  return isServiceBusy(error) ? "away" : undefined;
}

async function limitReads({ perVisitor }: HttpContext, { id, accountId }: DashboardSession): Promise<void> {
  const limits = [
    [`dashboard ${id}`, READS_PER_MINUTE],
    [`dashboard account ${accountId}`, ACCOUNT_READS_PER_MINUTE],
  ] as const;
  for (const [key, limit] of limits) {
    const result = await perVisitor.tryAcquire(key, limit);
    if (!result.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(result.resetMs) });
  }
}

export async function readSession(
  { world }: HttpContext,
  request: FastifyRequest,
): Promise<DashboardSession | undefined> {
  for (const value of readCookies(request, COOKIE)) {
    const session = await checkSession(world, value);
    if (session !== undefined) return session;
  }
  return undefined;
}

export function sendSignIn(
  context: HttpContext,
  exchange: Exchange,
  problem: SignInProblem | null,
): Promise<FastifyReply> {
  const status = problem === "limited" ? 429 : problem === "away" ? 503 : 401;
  exchange.reply.code(status);
  const { host } = new URL(context.world.config.baseUrl);
  return sendHtml(exchange, renderKeySignIn(viewOf(context, exchange.request), host, problem));
}

export function sendLinkPage(context: HttpContext, exchange: Exchange, code: string): Promise<FastifyReply> {
  const { host } = new URL(context.world.config.baseUrl);
  return sendHtml(exchange, renderLinkSignIn(viewOf(context, exchange.request), host, code));
}

function sendHtml({ request, reply }: Exchange, html: string): Promise<FastifyReply> {
  return sendDocument(request, reply.headers(PAGE_HEADERS), html);
}

function viewOf({ world }: HttpContext, request: FastifyRequest): MerchantContext {
  const option = queryText(request, "locale");
  const acceptLanguage = request.headers["accept-language"];
  const locale = chooseLocale({ option: option === "" ? undefined : option, acceptLanguage }, MERCHANT_LOCALES);
  return merchantContext(locale, world.clock.now().toISOString());
}

/** Throws not_found for a parameter that is unreadable or given twice: without its filter other payments would show. */
function queryTextOnce(request: FastifyRequest, name: string): string {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  if (value !== undefined && typeof value !== "string") throw new Fault("not_found");
  return value ?? "";
}

function queryText({ query }: FastifyRequest, name: string): string {
  const value: unknown = typeof query === "object" && query !== null ? Reflect.get(query, name) : undefined;
  return typeof value === "string" ? value : "";
}
