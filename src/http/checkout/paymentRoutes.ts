import type { FastifyInstance, FastifyReply } from "fastify";
import type { Asset } from "../../catalog/catalog.ts";
import { issueSourceInbox, type OriginSelector } from "../../inbox/issueSourceInbox.ts";
import { issueHandoffCode } from "../../intent/checkout/handoff.ts";
import { caip19 } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { registerView } from "../../view/registerView.ts";
import { parseJsonBody } from "../checks/parseJsonBody.ts";
import { readBody } from "../checks/readBody.ts";
import { compileParser } from "../schema/compileParser.ts";
import type { CheckoutContext } from "./checkoutContext.ts";
import type { Handoff } from "@tributary/checkout/checkoutState";
import { sendEvents } from "./events/eventStream.ts";
import { OpenStreams } from "./events/openStreams.ts";
import { CHECKOUT_PATH } from "./pageRoutes.ts";
import { setPrivate, type PublicRoute } from "./session/publicLimits.ts";
import {
  requireSameOrigin,
  requireSession,
  requireSessionIntent,
  type CheckoutRequest,
  type Session,
} from "./session/requireSession.ts";
import { readOrigins, readState } from "./state/readState.ts";

const BODY_BYTES_MAX = 4_096;

const originId = { type: "string", minLength: 1, maxLength: 200 } as const;
const parseChosenOrigin = compileParser({
  type: "object",
  properties: { originId },
  required: ["originId"],
  additionalProperties: false,
});
const parseViewedOrigin = compileParser({
  type: "object",
  properties: { originId: { ...originId, type: ["string", "null"] } },
  additionalProperties: false,
});
const parseNothing = compileParser({ type: "object", properties: {}, additionalProperties: false });

type Exchange = { request: CheckoutRequest; reply: FastifyReply };

/** Adds the routes by which an open page follows and chooses. checkoutState.ts describes them. */
export function addPaymentRoutes(server: FastifyInstance, context: CheckoutContext): void {
  const { world } = context;
  const streams = new OpenStreams();
  server.get(`${CHECKOUT_PATH}/state`, async (request, reply) => {
    const session = await openRoute(context, "state", { request: request as CheckoutRequest, reply });
    const state = await readState(world, session.intentId);
    if (state === undefined) throw new Fault("not_found", { message: "No such intent." });
    return reply.send(state);
  });
  // A stream has no end that a HEAD could wait for.
  server.get(`${CHECKOUT_PATH}/events`, { exposeHeadRoute: false }, async (request, reply) => {
    await sendEvents(context, streams, { request: request as CheckoutRequest, reply });
    return reply;
  });
  server.get(`${CHECKOUT_PATH}/origins`, async (request, reply) => {
    const session = await openRoute(context, "origins", { request: request as CheckoutRequest, reply });
    return reply.send(await readOrigins(world, await requireSessionIntent(world, session)));
  });
  addPostRoute(server, context, { path: "source-inbox", limit: "sourceInbox", handle: sendSourceInbox });
  addPostRoute(server, context, { path: "view", limit: "view", handle: recordView });
  addPostRoute(server, context, { path: "handoff", limit: "handoff", handle: sendHandoff });
  server.addHook("preClose", async () => context.feed.close());
}

type PostHandler = (
  context: CheckoutContext,
  session: Session,
  exchange: { body: unknown; reply: FastifyReply },
) => Promise<FastifyReply>;

/** Reads the body here, as the API does, because the framework would apply its own rules to it. */
function addPostRoute(
  server: FastifyInstance,
  context: CheckoutContext,
  { path, limit, handle }: { path: string; limit: PublicRoute; handle: PostHandler },
): void {
  server.route({
    method: "POST",
    url: `${CHECKOUT_PATH}/${path}`,
    onRequest: async (request, reply) => {
      requireSameOrigin(request);
      const session = await openRoute(context, limit, { request: request as CheckoutRequest, reply });
      const body = parseJsonBody(request.raw, await readBody(request.raw, BODY_BYTES_MAX));
      return handle(context, session, { body, reply });
    },
    handler: () => undefined,
  });
}

/** Checks the session and its limit. */
async function openRoute(context: CheckoutContext, route: PublicRoute, { request, reply }: Exchange): Promise<Session> {
  setPrivate(reply);
  const session = await requireSession(context.world, request);
  await context.limits.acquire(route, request, session.key);
  return session;
}

/** Issues the inbox of a chosen origin. A repeat returns the same. */
const sendSourceInbox: PostHandler = async ({ world }, session, { body, reply }) => {
  const chosen = parseChosenOrigin(body);
  const intent = await requireSessionIntent(world, session);
  const origin = requireOrigin(world.catalog.assets, chosen.originId);
  const { address } = await issueSourceInbox(world, intent, toSelector(origin));
  const state = await readState(world, intent.id);
  const inbox = state?.inboxes.find((each) => each.address === address && each.originIds.includes(chosen.originId));
  if (inbox === undefined) throw new Fault("source_inbox_not_active");
  return reply.code(201).send(inbox);
};

const recordView: PostHandler = async ({ world }, session, { body, reply }) => {
  const viewed = parseViewedOrigin(body);
  const intent = await requireSessionIntent(world, session);
  const origin = typeof viewed.originId === "string" ? requireOrigin(world.catalog.assets, viewed.originId) : undefined;
  const selection = origin && { namespace: origin.namespace, reference: origin.reference, tokenAddress: origin.token };
  const recorded = await registerView(world, intent, selection);
  return reply.code(202).send({ recorded });
};

const sendHandoff: PostHandler = async ({ world }, { intentId }, { body, reply }) => {
  parseNothing(body);
  const { code, expiresAt } = await issueHandoffCode(world, intentId);
  const url = `${world.config.baseUrl}/c/${intentId}?handoff=${code}`;
  const handoff: Handoff = { code, url, expiresAt: expiresAt.toISOString() };
  return reply.code(201).send(handoff);
};

function requireOrigin(assets: readonly Asset[], id: string): Asset {
  const origin = assets.find((asset) => asset.isOrigin && caip19(asset.chain, asset.token) === id);
  if (origin === undefined)
    throw new Fault("unsupported_origin", { param: "originId", message: "No source origin has this id." });
  return origin;
}

function toSelector({ namespace, reference, chainId, token }: Asset): OriginSelector {
  return namespace === "solana" ? { namespace, reference, mint: token } : { chainId };
}
