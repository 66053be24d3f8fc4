import type { FastifyRequest } from "fastify";
import { isUnavailable } from "../../db/errors.ts";
import { Fault } from "../../kernel/faults.ts";
import { authenticate, type Caller } from "../../merchant/authenticate.ts";
import type { Door } from "../door.ts";
import { callerNetwork } from "../rate/address.ts";
import { valuesOf } from "./headerValues.ts";
import { secondsOf } from "./rate.ts";

const GUESSES_PER_MINUTE = 600;

/**
 * Who calls. Throws unauthorized, key_revoked or key_expired, and rate_limited for an address that has presented wrong keys
 * too often. A right key is never held up by what others guess from the same address.
 */
export async function checkKey(door: Door, request: FastifyRequest): Promise<Caller> {
  // Of two such headers Node keeps the first and a proxy perhaps the last: neither is taken.
  const [authorization, ...others] = valuesOf(request.raw, "authorization");
  try {
    return await authenticate(door.world, others.length === 0 ? authorization : undefined);
  } catch (error) {
    if (error instanceof Fault && error.row.status === 401) await refuseGuessing(door, request.ip);
    throw error;
  }
}

async function refuseGuessing(door: Door, address: string): Promise<void> {
  try {
    const taken = await door.perGuesser.take(callerNetwork(address), GUESSES_PER_MINUTE);
    if (!taken.isAllowed) throw new Fault("rate_limited", { retryAfterS: secondsOf(taken.resetMs) });
  } catch (error) {
    // Without the database no key proves right, so there is nothing to guess.
    if (!isUnavailable(error)) throw error;
  }
}
