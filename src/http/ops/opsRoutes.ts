import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  OPS_FILES,
  OPS_KEYS_SCRIPT,
  OPS_SCRIPT,
  renderOpsDocument,
  renderSearchDocument,
  renderSignInDocument,
} from "@tributary/dashboard/ops/renderOpsDocument";
import { LOCALES } from "@tributary/dashboard/messages/load";
import type { SignIn } from "@tributary/dashboard/ops/signInPage";
import { isOpsSession, openOpsSession, OPS_SESSION_MS } from "../../dashboard/opsSession.ts";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";
import type { World } from "../../world.ts";
import { readBody } from "../checks/readBody.ts";
import { chooseLocale } from "../checkout/locale.ts";
import {
  addPageFiles,
  isForeignRequest,
  PAGE_HEADERS,
  PRIVATE_HEADERS,
  readCookies,
  setPageCookie,
} from "../pages/pageFiles.ts";
import { toClientNetwork } from "../rate/clientNetwork.ts";
import { createLocalRateLimiter } from "../rate/localRateLimiter.ts";
import { readPageFromReplica, setAsOf } from "../reads/readFromReplica.ts";
import { sendDocument } from "../sendCompressed.ts";
import { OpsReader } from "./opsReader.ts";
import { searchEverything } from "./searchEverything.ts";

const COOKIE = "tributary_ops";
const SIGN_INS_PER_MINUTE = 10;
const BODY_BYTES_MAX = 1_024;

/**
 * Adds the operator's page. It reads only. A link of `tributary ops link` opens it; the cookie that follows is checked
 * without the database, so that the page can say when that is away.
 */
export function addOpsRoutes(server: FastifyInstance, world: World): void {
  const reader = new OpsReader(world);
  const signIns = createLocalRateLimiter(world.clock);
  addPageFiles(server, OPS_FILES, [OPS_SCRIPT, OPS_KEYS_SCRIPT, "dashboard.css"]);
  server.get("/ops", async (request, reply) => {
    if (!(await isSignedIn(world, request))) return sendSignIn(world, [request, reply], { code: null, problem: null });
    const state = await reader.read();
    setAsOf(reply, reader.asOf);
    return send([request, reply], renderOpsDocument(state, localeOf(request), nowOf(world)));
  });
  server.get("/ops/state", async (request, reply) => {
    reply.headers(PRIVATE_HEADERS);
    if (!(await isSignedIn(world, request))) return reply.code(401).send({ error: "signed out" });
    const state = await reader.read();
    setAsOf(reply, reader.asOf);
    return reply.send(state);
  });
  server.get("/ops/search", async (request, reply) => {
    if (!(await isSignedIn(world, request))) return sendSignIn(world, [request, reply], { code: null, problem: null });
    const search = await readPageFromReplica(world, reply, (read) =>
      searchEverything(read, textOf(request.query, "q")),
    );
    const options = { locale: localeOf(request), now: nowOf(world) };
    return send([request, reply], renderSearchDocument({ installation: reader.installation() }, search, options));
  });
  // A look at the link uses nothing up: programs that preview links only look.
  server.get("/ops/sign-in", (request, reply) =>
    sendSignIn(world, [request, reply], { code: textOf(request.query, "code"), problem: null }),
  );
  server.route({
    method: "POST",
    url: "/ops/sign-in",
    // Reads the body here, because the framework would apply its own rules to it.
    onRequest: async (request, reply) => {
      const allowed = await signIns.tryAcquire(toClientNetwork(request.ip), SIGN_INS_PER_MINUTE);
      if (!allowed.isAllowed) return sendSignIn(world, [request, reply.code(429)], { code: null, problem: "limited" });
      const form = new URLSearchParams((await readBody(request.raw, BODY_BYTES_MAX)).toString("utf8"));
      const isOurs = !isForeignRequest(request, world.config.baseUrl);
      const value = isOurs ? await openOpsSession(world, form.get("code") ?? "") : undefined;
      if (value === undefined) return sendSignIn(world, [request, reply], { code: null, problem: "refused" });
      setPageCookie(reply, {
        name: COOKIE,
        value,
        path: OPS_FILES,
        maxAgeMs: OPS_SESSION_MS,
        isSecure: request.protocol === "https",
      });
      return reply.headers(PRIVATE_HEADERS).redirect("/ops", 303);
    },
    handler: () => undefined,
  });
}

type Exchange = readonly [request: FastifyRequest, reply: FastifyReply];

async function isSignedIn(world: World, request: FastifyRequest): Promise<boolean> {
  for (const value of readCookies(request, COOKIE)) {
    try {
      if (await isOpsSession(world, value)) return true;
    } catch (error) {
      // The key of the signature is in the database until the first request has read it.
      if (!isServiceBusy(error)) throw error;
    }
  }
  return false;
}

async function sendSignIn(
  world: World,
  [request, reply]: Exchange,
  page: Pick<SignIn, "code" | "problem">,
): Promise<FastifyReply> {
  if (reply.statusCode === 200 && (page.code === null || page.code === "")) reply.code(401);
  const { host } = new URL(world.config.baseUrl);
  const code = page.code === "" ? null : page.code;
  return send([request, reply], renderSignInDocument({ host, ...page, code }, localeOf(request), nowOf(world)));
}

function send([request, reply]: Exchange, html: string): Promise<FastifyReply> {
  return sendDocument(request, reply.headers(PAGE_HEADERS), html);
}

function localeOf({ query, headers }: FastifyRequest): string {
  const option = textOf(query, "locale");
  return chooseLocale(
    { option: option === "" ? undefined : option, acceptLanguage: headers["accept-language"] },
    LOCALES,
  );
}

function nowOf({ clock }: World): string {
  return clock.now().toISOString();
}

function textOf(query: unknown, name: string): string {
  const value: unknown = typeof query === "object" && query !== null ? Reflect.get(query, name) : undefined;
  return typeof value === "string" ? value : "";
}
