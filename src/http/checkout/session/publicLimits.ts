import type { FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../../kernel/faults.ts";
import { toWholeSeconds } from "../../checks/checkRateLimit.ts";
import { toClientNetwork } from "../../rate/clientNetwork.ts";
import type { RateLimiters } from "../../rate/rateLimiters.ts";

// Limits of the page's routes, which need no API key.

/** Requests in any 60 seconds: of one session, and of all sessions behind one address. Many payers may share an address. */
const LIMITS = {
  page: { perSession: 120, perNetwork: 1_200 },
  session: { perSession: 120, perNetwork: 600 },
  state: { perSession: 120, perNetwork: 6_000 },
  events: { perSession: 30, perNetwork: 1_500 },
  origins: { perSession: 60, perNetwork: 3_000 },
  sourceInbox: { perSession: 30, perNetwork: 300 },
  view: { perSession: 60, perNetwork: 3_000 },
  handoff: { perSession: 10, perNetwork: 100 },
  solanaPay: { perSession: 60, perNetwork: 300 },
} as const;

export type PublicRoute = keyof typeof LIMITS;

export type PublicLimits = {
  /** Counts a request. `key` is the session's, or the intent's id before there is one. Throws rate_limited. */
  acquire(route: PublicRoute, request: FastifyRequest, key: string): Promise<void>;
};

export function createPublicLimits({ perVisitor }: Pick<RateLimiters, "perVisitor">): PublicLimits {
  return {
    async acquire(route, request, key) {
      const { perSession, perNetwork } = LIMITS[route];
      const network = await perVisitor.tryAcquire(`${route} network ${toClientNetwork(request.ip)}`, perNetwork);
      const session = await perVisitor.tryAcquire(`${route} session ${key}`, perSession);
      const refused = [network, session].filter(({ isAllowed }) => !isAllowed);
      if (refused.length === 0) return;
      const resetMs = Math.max(...refused.map((result) => result.resetMs));
      throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(resetMs) });
    },
  };
}

/** Marks a response that no cache may keep. */
export function setPrivate(reply: FastifyReply): FastifyReply {
  return reply.headers({
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
}
