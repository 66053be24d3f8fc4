import type { FastifyRequest } from "fastify";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";
import { Fault } from "../../kernel/faults.ts";
import { authenticate, type Caller } from "../../merchant/keys/authenticate.ts";
import type { HttpContext } from "../httpContext.ts";
import { toClientNetwork } from "../rate/clientNetwork.ts";
import { readHeaderValues } from "./readHeaderValues.ts";
import { toWholeSeconds } from "./checkRateLimit.ts";

const FAILED_AUTH_PER_MINUTE = 600;

/**
 * Authenticates the caller. Throws unauthorized, key_revoked or key_expired, and rate_limited for an address that has
 * sent too many invalid keys. A valid key is accepted even when others guess from the same address.
 */
export async function checkApiKey(context: HttpContext, request: FastifyRequest): Promise<Caller> {
  // Of two Authorization headers Node keeps the first and a proxy may keep the last, so two are refused.
  const [authorization, ...others] = readHeaderValues(request.raw, "authorization");
  try {
    return await authenticate(context.world, others.length === 0 ? authorization : undefined);
  } catch (error) {
    if (error instanceof Fault && error.row.status === 401) await limitFailedAuth(context, request.ip);
    throw error;
  }
}

/** Counts a refused proof of an address. Throws rate_limited for too many of them. */
export async function limitFailedAuth(context: HttpContext, address: string): Promise<void> {
  try {
    const result = await context.perUnauthenticatedIp.tryAcquire(toClientNetwork(address), FAILED_AUTH_PER_MINUTE);
    if (!result.isAllowed) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(result.resetMs) });
  } catch (error) {
    // Without the database no guess can succeed, so it is not counted.
    if (!isServiceBusy(error)) throw error;
  }
}
