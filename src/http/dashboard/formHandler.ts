import type { FastifyInstance } from "fastify";
import type { MerchantPage } from "@tributary/dashboard/merchant/frame";
import { requireFormToken, type DashboardSession } from "../../dashboard/session.ts";
import { Fault } from "../../kernel/faults.ts";
import { MANAGE_DASHBOARD } from "../../merchant/keys/scopes.ts";
import { toWholeSeconds } from "../checks/checkRateLimit.ts";
import { readBody } from "../checks/readBody.ts";
import type { HttpContext } from "../httpContext.ts";
import { isForeignRequest, PRIVATE_HEADERS } from "../pages/pageFiles.ts";
import { answerPage, type Exchange, type PageRequest } from "./dashboardContext.ts";

const BODY_BYTES_MAX = 16_384;
const CHANGES_PER_MINUTE = 30;

/** A form of our own pages, sent by a session that may change things. */
export type FormRequest = Omit<PageRequest, "query"> & {
  readonly field: (name: string) => string;
  readonly fields: (name: string) => readonly string[];
  /** Of the address, such as the id of an endpoint. */
  readonly parameter: (name: string) => string;
};

/** The address to go on at, or a page that stands only here. */
export type FormAnswer = string | MerchantPage;

/**
 * Adds a form that changes something. It works without JavaScript. A request from another site, with a token of another
 * session, or by a key that only reads changes nothing.
 */
export function addForm(
  server: FastifyInstance,
  context: HttpContext,
  form: { path: string; change: (request: FormRequest) => Promise<FormAnswer> },
): void {
  // The bodies are read here, because the framework would apply its own rules to them.
  server.route({
    method: "POST",
    url: form.path,
    onRequest: async (request, reply) => {
      const exchange = { request, reply };
      const body = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
      return answerPage(context, exchange, async (page) => {
        await checkForm(context, exchange, { session: page.session, token: body.get("token") ?? "" });
        const answer = await form.change({
          ...page,
          field: (name) => (body.get(name) ?? "").trim(),
          fields: (name) => body.getAll(name),
          parameter: (name) => String((request.params as Record<string, string>)[name]),
        });
        return typeof answer === "string"
          ? reply.headers(PRIVATE_HEADERS).redirect(answer, 303)
          : { ...answer, isAnswer: true };
      });
    },
    handler: () => undefined,
  });
}

async function checkForm(
  { world, perVisitor }: HttpContext,
  { request }: Exchange,
  { session, token }: { session: DashboardSession; token: string },
): Promise<void> {
  if (isForeignRequest(request, world.config.baseUrl))
    throw new Fault("unauthorized", { message: "Only the dashboard itself may send this." });
  requireFormToken(session, token);
  if (!session.mayManage)
    throw new Fault("insufficient_scope", { message: `This key lacks the scope ${MANAGE_DASHBOARD}.` });
  const result = await perVisitor.tryAcquire(`dashboard change ${session.accountId}`, CHANGES_PER_MINUTE);
  if (!result.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(result.resetMs) });
}
