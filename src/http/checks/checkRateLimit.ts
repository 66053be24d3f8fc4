import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { Fault, faultRows } from "../../kernel/faults.ts";
import type { AccountRow } from "../../merchant/store.ts";
import type { HttpContext } from "../httpContext.ts";
import type { Operation } from "../operation.ts";
import type { RateLimitResult } from "../rate/rateLimiter.ts";

/** `account`: the operator may have raised its limits. */
export type RateLimitSubject = {
  operation: Operation;
  account: Pick<AccountRow, "id" | "limit_multiple">;
  id: string;
};

/**
 * Counts the call and sets the RateLimit-* headers of the limit with the least room. Throws rate_limited. When the
 * database of the counts is unavailable, it rejects with the database's error, because no later step would succeed
 * either.
 */
export async function checkRateLimit(
  context: HttpContext,
  subject: RateLimitSubject,
  reply: FastifyReply,
): Promise<void> {
  const results = await acquireAll(context, subject).catch((error: unknown) => {
    setRateLimitHeaders(reply, unavailableLimit(subject));
    throw error;
  });
  const refused = results.filter((result) => !result.isAllowed);
  setRateLimitHeaders(
    reply,
    results.reduce((least, result) => (isStricter(result, least) ? result : least)),
  );
  if (refused.length === 0) return;
  const retryAfterS = Math.max(...refused.map((result) => toWholeSeconds(result.resetMs)));
  throw new Fault("rate_limited", { retryAfterS });
}

function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetMs }: RateLimitResult): void {
  reply.headers({
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(toWholeSeconds(resetMs)),
  });
}

/** Headers when the counts are unknown: the limit itself, and no room until a retry makes sense. */
function unavailableLimit({
  operation: { perMinute, perMinuteAndIntent = perMinute },
  account: { limit_multiple: multiple },
}: RateLimitSubject): RateLimitResult {
  const resetMs = (faultRows.internal_error.retryAfterS ?? 1) * 1_000;
  return { isAllowed: false, limit: Math.min(perMinute, perMinuteAndIntent) * multiple, remaining: 0, resetMs };
}

// Every call counts against each limit, even when another limit refuses it.
async function acquireAll(
  context: HttpContext,
  { operation, account, id }: RateLimitSubject,
): Promise<[RateLimitResult, ...RateLimitResult[]]> {
  const { perMinute, perMinuteAndIntent } = operation;
  const key = `${operation.operationId} ${account.id}`;
  const operationResult = context.perOperation.tryAcquire(key, perMinute * account.limit_multiple);
  if (perMinuteAndIntent === undefined) return [await operationResult];
  // A hash, because an id may be as long as a request.
  const intentKey = `${key} ${createHash("sha256").update(id).digest("base64url")}`;
  return Promise.all([
    operationResult,
    context.perIntent.tryAcquire(intentKey, perMinuteAndIntent * account.limit_multiple),
  ]);
}

function isStricter(one: RateLimitResult, other: RateLimitResult): boolean {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.resetMs > other.resetMs);
}

export function toWholeSeconds(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1_000));
}
