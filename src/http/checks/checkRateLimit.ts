import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { Fault, faultRows } from "../../kernel/faults.ts";
import type { HttpContext } from "../httpContext.ts";
import type { Operation } from "../operation.ts";
import type { RateLimitResult } from "../rate/rateLimiter.ts";

export type RateLimitSubject = { operation: Operation; accountId: string; id: string };

/**
 * How often. Tells the headers RateLimit-*, of the limit with the least room, and throws rate_limited. While the database that holds
 * the counts is away, this rejects as it does: nothing behind it could be done then either.
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
  const refused = results.filter((taken) => !taken.isAllowed);
  setRateLimitHeaders(
    reply,
    results.reduce((least, taken) => (isStricter(taken, least) ? taken : least)),
  );
  if (refused.length === 0) return;
  const retryAfterS = Math.max(...refused.map((taken) => toWholeSeconds(taken.resetMs)));
  throw new Fault("rate_limited", { retryAfterS });
}

function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetMs }: RateLimitResult): void {
  reply.headers({
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(toWholeSeconds(resetMs)),
  });
}

/** What is known while nobody counts: the limit itself, and that no call has room until a repeat is worth a try. */
function unavailableLimit({
  operation: { perMinute, perMinuteAndIntent = perMinute },
}: RateLimitSubject): RateLimitResult {
  const resetMs = (faultRows.internal_error.retryAfterS ?? 1) * 1_000;
  return { isAllowed: false, limit: Math.min(perMinute, perMinuteAndIntent), remaining: 0, resetMs };
}

// Each limit is consumed by each call, whatever the other one says.
async function acquireAll(
  context: HttpContext,
  { operation, accountId, id }: RateLimitSubject,
): Promise<[RateLimitResult, ...RateLimitResult[]]> {
  const key = `${operation.operationId} ${accountId}`;
  const operationResult = context.perOperation.tryAcquire(key, operation.perMinute);
  if (operation.perMinuteAndIntent === undefined) return [await operationResult];
  // An id is any text that fits into a request.
  const intentKey = `${key} ${createHash("sha256").update(id).digest("base64url")}`;
  return Promise.all([operationResult, context.perIntent.tryAcquire(intentKey, operation.perMinuteAndIntent)]);
}

function isStricter(one: RateLimitResult, other: RateLimitResult): boolean {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.resetMs > other.resetMs);
}

export function toWholeSeconds(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1_000));
}
