import type { FastifyInstance } from "fastify";
import { endSession, openSession, SESSION_MS } from "../../dashboard/session.ts";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";
import { Fault } from "../../kernel/faults.ts";
import { readBody } from "../checks/readBody.ts";
import type { HttpContext } from "../httpContext.ts";
import { isForeignRequest, PRIVATE_HEADERS, setPageCookie } from "../pages/pageFiles.ts";
import { toClientNetwork } from "../rate/clientNetwork.ts";
import { COOKIE, DASHBOARD_PATH, readSession, sendSignIn, type Exchange } from "./dashboardContext.ts";
import type { SignInProblem } from "@tributary/dashboard/merchant/frame";

const SIGN_INS_PER_MINUTE = 10;
const BODY_BYTES_MAX = 2_048;

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
    onRequest: async (request, reply) => signIn(context, { request, reply }),
    handler: () => undefined,
  });
  server.route({
    method: "POST",
    url: `${DASHBOARD_PATH}/sign-out`,
    onRequest: async (request, reply) => signOut(context, { request, reply }),
    handler: () => undefined,
  });
}

async function signIn(context: HttpContext, exchange: Exchange) {
  const { request, reply } = exchange;
  const { world } = context;
  try {
    const network = toClientNetwork(request.ip);
    const allowed = await context.perVisitor.tryAcquire(`dashboard sign-in ${network}`, SIGN_INS_PER_MINUTE);
    if (!allowed.isAllowed) return await sendSignIn(context, exchange, "limited");
    const form = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
    if (isForeignRequest(request, world.config.baseUrl)) return await sendSignIn(context, exchange, "refused");
    const value = await openSession(world, (form.get("key") ?? "").trim());
    const isSecure = world.config.baseUrl.startsWith("https:");
    setPageCookie(reply, { name: COOKIE, value, path: DASHBOARD_PATH, maxAgeMs: SESSION_MS, isSecure });
    return await reply.headers(PRIVATE_HEADERS).redirect(DASHBOARD_PATH, 303);
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    return sendSignIn(context, exchange, problem);
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
