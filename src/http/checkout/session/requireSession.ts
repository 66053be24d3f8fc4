import type { FastifyRequest } from "fastify";
import { checkSession, type Refusal } from "../../../intent/checkout/session.ts";
import { findIntentById, type IntentRow } from "../../../intent/store.ts";
import { Fault } from "../../../kernel/faults.ts";
import type { World } from "../../../world.ts";
import type { RefusalReason } from "@tributary/checkout/checkoutState";
import { parseSessionCookies } from "./sessionCookie.ts";

type SessionWorld = Pick<World, "db" | "clock" | "entropy" | "memory">;
export type CheckoutRequest = FastifyRequest<{ Params: { intentId: string } }>;

/** Distinguishes a bearer from an API key in logs of proxies and in scans for secrets. */
export const BEARER_PREFIX = "cs_";

/** An open session. `key` identifies it in rate limits and is no secret. */
export type Session = { intentId: string; key: string };

/** The session of a request's bearer or cookie, without a read of the database. Throws unauthorized with the reason. */
export async function requireSession(world: SessionWorld, request: CheckoutRequest): Promise<Session> {
  const result = await findSession(world, request);
  if ("refusal" in result) throw refusalFault(result.refusal);
  return result;
}

/** Same as requireSession, but returns the refusal. */
export async function findSession(
  world: SessionWorld,
  request: CheckoutRequest,
): Promise<Session | { refusal: Refusal }> {
  const { intentId } = request.params;
  const bearer = new RegExp(`^Bearer +${BEARER_PREFIX}(\\S+)$`, "i").exec(request.headers.authorization ?? "")?.[1];
  const values = bearer === undefined ? parseSessionCookies(request.headers.cookie) : [bearer];
  for (const value of values)
    if ((await checkSession(world, { intentId, value })) === "valid")
      return { intentId, key: value.slice(-KEY_CHARACTERS) };
  // A browser drops a cookie when it expires, so a missing one has most likely done so.
  return { refusal: "expired" };
}

/** Part of the signature: enough to tell sessions apart, too little to be one. */
const KEY_CHARACTERS = 12;

/** The intent of a request's session. Throws not_found for an archived one. */
export async function requireSessionIntent(world: SessionWorld, session: Session): Promise<IntentRow> {
  const intent = await findIntentById(world.db, session.intentId);
  if (intent === undefined || intent.status === "archived")
    throw new Fault("not_found", { message: "No such intent." });
  return intent;
}

const MESSAGES: Readonly<Record<RefusalReason, string>> = {
  replaced: "A newer link replaced this one.",
  expired: "The page's session is over, or the browser keeps no cookies.",
  unknown: "This opens no payment.",
};

export function refusalFault(reason: RefusalReason): Fault {
  return new Fault("unauthorized", { message: MESSAGES[reason], details: { reason } });
}

/**
 * Throws unauthorized for a request that the browser says another site has caused. A partitioned cookie goes along with
 * those, and a merchant's page should not act for its payer.
 */
export function requireSameOrigin(request: FastifyRequest): void {
  const site = request.headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return;
  throw new Fault("unauthorized", { message: "Only the checkout page itself may send this request." });
}
