import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { Fault, faultRows } from "../../kernel/faults.ts";
import type { Door } from "../door.ts";
import type { Operation } from "../operation.ts";
import type { Taken } from "../rate/limiter.ts";

export type RateCall = { operation: Operation; accountId: string; id: string };

/**
 * How often. Tells the headers RateLimit-*, of the limit with the least room, and throws rate_limited. While the database that holds
 * the counts is away, this rejects as it does: nothing behind it could be done then either.
 */
export async function checkRate(door: Door, call: RateCall, reply: FastifyReply): Promise<void> {
  const all = await takeAll(door, call).catch((error: unknown) => {
    tellLimit(reply, uncounted(call));
    throw error;
  });
  const refused = all.filter((taken) => !taken.isAllowed);
  tellLimit(
    reply,
    all.reduce((least, taken) => (isTighter(taken, least) ? taken : least)),
  );
  if (refused.length === 0) return;
  const retryAfterS = Math.max(...refused.map((taken) => secondsOf(taken.resetMs)));
  throw new Fault("rate_limited", { retryAfterS });
}

function tellLimit(reply: FastifyReply, { limit, remaining, resetMs }: Taken): void {
  reply.headers({
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(secondsOf(resetMs)),
  });
}

/** What is known while nobody counts: the limit itself, and that no call has room until a repeat is worth a try. */
function uncounted({ operation: { perMinute, perMinuteAndIntent = perMinute } }: RateCall): Taken {
  const resetMs = (faultRows.internal_error.retryAfterS ?? 1) * 1_000;
  return { isAllowed: false, limit: Math.min(perMinute, perMinuteAndIntent), remaining: 0, resetMs };
}

// Each limit is consumed by each call, whatever the other one says.
async function takeAll(door: Door, { operation, accountId, id }: RateCall): Promise<[Taken, ...Taken[]]> {
  const key = `${operation.operationId} ${accountId}`;
  const ofOperation = door.perOperation.take(key, operation.perMinute);
  if (operation.perMinuteAndIntent === undefined) return [await ofOperation];
  // An id is any text that fits into a request.
  const intentKey = `${key} ${createHash("sha256").update(id).digest("base64url")}`;
  return Promise.all([ofOperation, door.perIntent.take(intentKey, operation.perMinuteAndIntent)]);
}

function isTighter(one: Taken, other: Taken): boolean {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.resetMs > other.resetMs);
}

export function secondsOf(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1_000));
}
