import type { FastifyRequest } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { authenticate, type Caller } from "../../merchant/authenticate.ts";
import type { Door } from "../door.ts";
import { secondsOf } from "./rate.ts";

const GUESSES_PER_MINUTE = 600;

/**
 * Who calls. Throws unauthorized, key_revoked or key_expired, and rate_limited for an address that has presented wrong keys
 * too often. A right key is never held up by what others guess from the same address.
 */
export async function checkKey(door: Door, request: FastifyRequest): Promise<Caller> {
  try {
    return await authenticate(door.world, onlyOnce(request) ? request.headers.authorization : undefined);
  } catch (error) {
    if (error instanceof Fault && error.row.status === 401) refuseGuessing(door, request.ip);
    throw error;
  }
}

// Of two such headers Node keeps the first and a proxy perhaps the last: neither is taken.
function onlyOnce({ raw }: FastifyRequest): boolean {
  const isName = (_: string, index: number) => index % 2 === 0;
  return raw.rawHeaders.filter(isName).filter((name) => name.toLowerCase() === "authorization").length <= 1;
}

function refuseGuessing(door: Door, address: string): void {
  const taken = door.perGuesser.take(address, GUESSES_PER_MINUTE);
  if (!taken.isAllowed) throw new Fault("rate_limited", { retryAfterS: secondsOf(taken.resetMs) });
}
