import type { FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../../kernel/faults.ts";
import { toWholeSeconds } from "../../checks/checkRateLimit.ts";
import { toClientNetwork } from "../../rate/clientNetwork.ts";
import type { RateLimiters } from "../../rate/rateLimiters.ts";

// Limits of the page's routes, which need no API key.

/**
 * Requests in any 60 seconds: of one session, and of all sessions behind one address. Many payers may share an address.
 */
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
  /** Counts a request. `key` is the session's, or `visitorKey` before there is one. Throws rate_limited. */
  acquire(route: PublicRoute, request: FastifyRequest, key: string): Promise<void>;
};

/**
 * A request without a credential counts for its network: whoever else knows the intent's id must not lock its payer
 * out.
 */
export function visitorKey({ ip }: FastifyRequest, intentId: string): string {
  return `${toClientNetwork(ip)} ${intentId}`;
}

export function createPublicLimits({ perVisitor }: Pick<RateLimiters, "perVisitor">): PublicLimits {
  const acquire = async (key: string, limit: number) => {
    const result = await perVisitor.tryAcquire(key, limit);
    if (!result.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(result.resetMs) });
  };
  return {
    async acquire(route, request, key) {
      const { perSession, perNetwork } = LIMITS[route];
      // A refused network takes no room for further keys.
      await acquire(`${route} network ${toClientNetwork(request.ip)}`, perNetwork);
      await acquire(`${route} session ${key}`, perSession);
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
