import type { FastifyInstance } from "fastify";
import type { MerchantPage } from "@tributary/dashboard/merchant/frame";
import { requireFormToken, type DashboardSession } from "../../dashboard/session.ts";
import { Fault } from "../../kernel/faults.ts";
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
  form: {
    path: string;
    /** Who may send it. */
    allows: (session: DashboardSession) => boolean;
    change: (request: FormRequest) => Promise<FormAnswer>;
  },
): void {
  // The bodies are read here, because the framework would apply its own rules to them.
  server.route({
    method: "POST",
    url: form.path,
    onRequest: async (request, reply) => {
      const exchange = { request, reply };
      const body = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
      return answerPage(context, exchange, async (page) => {
        const { session } = page;
        await checkForm(context, exchange, {
          session,
          token: body.get("token") ?? "",
          isAllowed: form.allows(session),
        });
        const answer = await form.change({
          ...page,
          field: (name) => (body.get(name) ?? "").trim(),
          fields: (name) => body.getAll(name),
          parameter: (name) => String((request.params as Record<string, string>)[name]),
        });
        return typeof answer === "string"
          ? reply.headers(PRIVATE_HEADERS).redirect(answer, 303)
          : { ...answer, isFollowed: false };
      });
    },
    handler: () => undefined,
  });
}

async function checkForm(
  { world, perVisitor }: HttpContext,
  { request }: Exchange,
  { session, token, isAllowed }: { session: DashboardSession; token: string; isAllowed: boolean },
): Promise<void> {
  if (isForeignRequest(request, world.config.baseUrl))
    throw new Fault("unauthorized", { message: "Only the dashboard itself may send this." });
  requireFormToken(session, token);
  if (!isAllowed) throw new Fault("insufficient_scope", { message: "This session may not change that." });
  const result = await perVisitor.tryAcquire(`dashboard change ${session.accountId}`, CHANGES_PER_MINUTE);
  if (!result.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(result.resetMs) });
}

/** A refused change shows the page again, with the reason. What another account has is not found, as what nobody has. */
export async function orShowAgain(
  form: FormRequest,
  show: (problem: string) => Promise<MerchantPage>,
  change: () => Promise<FormAnswer>,
): Promise<FormAnswer> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof Fault) || error.row.status === 404 || error.code === "rate_limited") throw error;
    form.reply.code(error.row.status);
    return show(error.message);
  }
}
