import type { FastifyRequest } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { authenticate, type Caller } from "../../merchant/authenticate.ts";
import type { Door } from "../door.ts";
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
    if (error instanceof Fault && error.row.status === 401) refuseGuessing(door, request.ip);
    throw error;
  }
}

function refuseGuessing(door: Door, address: string): void {
  const taken = door.perGuesser.take(address, GUESSES_PER_MINUTE);
  if (!taken.isAllowed) throw new Fault("rate_limited", { retryAfterS: secondsOf(taken.resetMs) });
}
