import type { FastifyInstance, FastifyReply } from "fastify";
import { endSession, openSession, SESSION_MS } from "../../dashboard/session.ts";
import { createChallenge, openWalletSession } from "../../dashboard/walletSignIn.ts";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";
import { Fault } from "../../kernel/faults.ts";
import { toWholeSeconds } from "../checks/checkRateLimit.ts";
import { readBody } from "../checks/readBody.ts";
import type { HttpContext } from "../httpContext.ts";
import { isForeignRequest, PRIVATE_HEADERS, setPageCookie } from "../pages/pageFiles.ts";
import type { World } from "../../world.ts";
import { toClientNetwork } from "../rate/clientNetwork.ts";
import { COOKIE, DASHBOARD_PATH, readSession, sendSignIn, type Exchange } from "./dashboardContext.ts";
import type { SignInProblem } from "@tributary/dashboard/merchant/frame";

const SIGN_INS_PER_MINUTE = 10;
const BODY_BYTES_MAX = 2_048;

/** How somebody proves who he is; `open` returns the cookie's value. */
type WayIn = {
  readonly open: (world: World, form: URLSearchParams) => Promise<string>;
  /** What the page says when he does not. */
  readonly refusal: SignInProblem;
};

const BY_KEY: WayIn = {
  open: (world, form) => openSession(world, (form.get("key") ?? "").trim()),
  refusal: "refused",
};

const BY_WALLET: WayIn = {
  open: (world, form) =>
    openWalletSession(world, {
      nonce: form.get("nonce") ?? "",
      signature: form.get("signature") ?? "",
      accountId: form.get("account") ?? undefined,
    }),
  refusal: "noMember",
};

/** Signing in by a key, and out. Both are forms of our own pages, which work without JavaScript. */
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

/** A text for a wallet to sign. Each costs a row, so a network gets few. */
async function sendChallenge({ world, perVisitor }: HttpContext, { request, reply }: Exchange): Promise<FastifyReply> {
  if (isForeignRequest(request, world.config.baseUrl))
    throw new Fault("unauthorized", { message: "Only the dashboard itself may send this." });
  const network = toClientNetwork(request.ip);
  const allowed = await perVisitor.tryAcquire(`dashboard challenge ${network}`, SIGN_INS_PER_MINUTE);
  if (!allowed.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(allowed.resetMs) });
  const form = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
  const challenge = await createChallenge(world, (form.get("wallet") ?? "").trim());
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
    const value = await open(world, form);
    const isSecure = world.config.baseUrl.startsWith("https:");
    setPageCookie(reply, { name: COOKIE, value, path: DASHBOARD_PATH, maxAgeMs: SESSION_MS, isSecure });
    return await reply.headers(PRIVATE_HEADERS).redirect(DASHBOARD_PATH, 303);
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
  return error.row.status === 401 ? "refused" : undefined;
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
