import type { FastifyInstance, FastifyReply } from "fastify";
import { endSession, openSession, SESSION_MS } from "../../../dashboard/session.ts";
import { openLinkSession } from "../../../dashboard/signIn/dashboardLink.ts";
import { createChallenge, openWalletSession } from "../../../dashboard/signIn/walletSignIn.ts";
import { isServiceBusy } from "../../../kernel/errors/classifyError.ts";
import { Fault } from "../../../kernel/faults.ts";
import { toWholeSeconds } from "../../checks/checkRateLimit.ts";
import { readBody } from "../../checks/readBody.ts";
import type { HttpContext } from "../../httpContext.ts";
import { isForeignRequest, PRIVATE_HEADERS, setPageCookie } from "../../pages/pageFiles.ts";
import { toClientNetwork } from "../../rate/clientNetwork.ts";
import { COOKIE, DASHBOARD_PATH, readSession, sendLinkPage, sendSignIn, type Exchange } from "../dashboardContext.ts";
import type { SignInProblem } from "@tributary/dashboard/merchant/signIn";
import { ACCOUNTS_PATH, addAccountPages } from "./accountPages.ts";

const SIGN_INS_PER_MINUTE = 10;
/** The signature of a wallet that is a contract may be of several people. */
const BODY_BYTES_MAX = 16_384;
/** Questions to one chain's providers in a minute, whoever signs in. */
const CONTRACTS_PER_MINUTE = 120;

/** How somebody proves who he is; `open` returns the cookie's value, and where he goes on. */
type WayIn = {
  readonly open: (context: HttpContext, form: URLSearchParams) => Promise<{ cookie: string; goTo: string }>;
  /** What the page says when he does not. */
  readonly refusal: SignInProblem;
};

const BY_KEY: WayIn = {
  open: async ({ world }, form) => ({
    cookie: await openSession(world, (form.get("key") ?? "").trim()),
    goTo: DASHBOARD_PATH,
  }),
  refusal: "refused",
};

const BY_WALLET: WayIn = {
  open: async ({ world, perVisitor }, form) => {
    const signed = { nonce: form.get("nonce") ?? "", signature: form.get("signature") ?? "" };
    const { cookie, isOneOfSeveral } = await openWalletSession(world, signed, async (chain) => {
      const allowed = await perVisitor.tryAcquire(`dashboard contract ${chain}`, CONTRACTS_PER_MINUTE);
      return allowed.isAllowed;
    });
    return { cookie, goTo: isOneOfSeveral ? ACCOUNTS_PATH : DASHBOARD_PATH };
  },
  refusal: "noMember",
};

const BY_LINK: WayIn = {
  open: async ({ world }, form) => ({
    cookie: await openLinkSession(world, form.get("code") ?? ""),
    goTo: DASHBOARD_PATH,
  }),
  refusal: "link",
};

/** Signing in by a key, a wallet or a link, and out. All are forms of our own pages. */
export function addSignInRoutes(server: FastifyInstance, context: HttpContext): void {
  server.get(`${DASHBOARD_PATH}/sign-in`, async (request, reply) => {
    const session = await readSession(context, request).catch(() => undefined);
    if (session !== undefined) return reply.headers(PRIVATE_HEADERS).redirect(DASHBOARD_PATH, 303);
    return sendSignIn(context, { request, reply }, null);
  });
  // The bodies are read here, because the framework would apply its own rules to them.
  server.route({
    method: "POST",
    url: `${DASHBOARD_PATH}/sign-in`,
    onRequest: async (request, reply) => signIn(context, { request, reply }, BY_KEY),
    handler: () => undefined,
  });
  addWalletRoutes(server, context);
  addLinkRoutes(server, context);
  addAccountPages(server, context);
  server.route({
    method: "POST",
    url: `${DASHBOARD_PATH}/sign-out`,
    onRequest: async (request, reply) => signOut(context, { request, reply }),
    handler: () => undefined,
  });
}

function addWalletRoutes(server: FastifyInstance, context: HttpContext): void {
  server.route({
    method: "POST",
    url: `${DASHBOARD_PATH}/sign-in/challenge`,
    onRequest: async (request, reply) => sendChallenge(context, { request, reply }),
    handler: () => undefined,
  });
  server.route({
    method: "POST",
    url: `${DASHBOARD_PATH}/sign-in/wallet`,
    onRequest: async (request, reply) => signIn(context, { request, reply }, BY_WALLET),
    handler: () => undefined,
  });
}

/** A link is used up by a press, so that no program that looks at links uses it. */
function addLinkRoutes(server: FastifyInstance, context: HttpContext): void {
  const path = `${DASHBOARD_PATH}/sign-in/link`;
  server.get(path, async (request, reply) => {
    const { code } = request.query as Readonly<Record<string, unknown>>;
    return sendLinkPage(context, { request, reply }, typeof code === "string" ? code.slice(0, 100) : "");
  });
  server.route({
    method: "POST",
    url: path,
    onRequest: async (request, reply) => signIn(context, { request, reply }, BY_LINK),
    handler: () => undefined,
  });
}

/** A text for a wallet to sign. Each costs a row, so a network gets few. */
async function sendChallenge({ world, perVisitor }: HttpContext, { request, reply }: Exchange): Promise<FastifyReply> {
  if (isForeignRequest(request, world.config.baseUrl))
    throw new Fault("unauthorized", { message: "Only the dashboard itself may send this." });
  const network = toClientNetwork(request.ip);
  const allowed = await perVisitor.tryAcquire(`dashboard challenge ${network}`, SIGN_INS_PER_MINUTE);
  if (!allowed.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(allowed.resetMs) });
  const form = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
  const challenge = await createChallenge(world, (form.get("wallet") ?? "").trim(), form.get("chainId") ?? "");
  return reply.headers({ ...PRIVATE_HEADERS, "content-type": "application/json" }).send(JSON.stringify(challenge));
}

async function signIn(context: HttpContext, exchange: Exchange, { open, refusal }: WayIn): Promise<FastifyReply> {
  const { request, reply } = exchange;
  const { world } = context;
  try {
    // Another site's page must not use up the tries of its visitor's network.
    if (isForeignRequest(request, world.config.baseUrl)) return await sendSignIn(context, exchange, "refused");
    const network = toClientNetwork(request.ip);
    const allowed = await context.perVisitor.tryAcquire(`dashboard sign-in ${network}`, SIGN_INS_PER_MINUTE);
    if (!allowed.isAllowed) return await sendSignIn(context, exchange, "limited");
    const form = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
    const { cookie: value, goTo } = await open(context, form);
    const isSecure = world.config.baseUrl.startsWith("https:");
    setPageCookie(reply, { name: COOKIE, value, path: DASHBOARD_PATH, maxAgeMs: SESSION_MS, isSecure });
    return await reply.headers(PRIVATE_HEADERS).redirect(goTo, 303);
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    return sendSignIn(context, exchange, problem === "refused" ? refusal : problem);
  }
}

function problemOf(error: unknown): SignInProblem | undefined {
  if (!(error instanceof Fault)) return isServiceBusy(error) ? "away" : undefined;
  if (error.code === "insufficient_scope") return "scope";
  if (error.code === "account_suspended") return "suspended";
  return error.row.status === 401 ? "refused" : error.row.status === 400 ? "unasked" : undefined;
}

async function signOut(context: HttpContext, { request, reply }: Exchange) {
  const form = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
  const session = await readSession(context, request);
  if (session !== undefined) {
    if (isForeignRequest(request, context.world.config.baseUrl))
      throw new Fault("unauthorized", { message: "Only the dashboard itself may send this." });
    await endSession(context.world, session, form.get("token") ?? "");
  }
  const isSecure = context.world.config.baseUrl.startsWith("https:");
  setPageCookie(reply, { name: COOKIE, value: "", path: DASHBOARD_PATH, maxAgeMs: 0, isSecure });
  return reply.headers(PRIVATE_HEADERS).redirect(`${DASHBOARD_PATH}/sign-in`, 303);
}
