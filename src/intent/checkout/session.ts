import { createHmac, timingSafeEqual } from "node:crypto";
import { addMs } from "../../kernel/clock.ts";
import { listPageOriginRows } from "../../merchant/store.ts";
import type { World } from "../../world.ts";
import { ensureDeployment } from "../deployment.ts";
import { findIntentById, type IntentRow } from "../store.ts";
import { isHandoffCode, redeemHandoffCode } from "./handoff.ts";
import { hashWidgetToken, isWidgetToken } from "./widgetToken.ts";

type SessionWorld = Pick<World, "db" | "clock" | "entropy" | "memory">;

/** Lifetime of a checkout session. The same widget token opens another session. */
export const SESSION_MS = 24 * 3_600_000;
/** Lifetime of a ticket: the merchant's page passes it to the frame at once. */
const TICKET_MS = 60_000;
const TICKET_PREFIX = "et_";

/** What opens a session: the intent's latest widget token, the ticket of an embedding page, or a handoff code. */
export type Credential = { widgetToken: string } | { ticket: string } | { code: string };

/**
 * replaced: the token has the form of one and is not the intent's latest. expired: a ticket or a session is over.
 * unknown: anything else, an unknown intent included.
 */
export type Refusal = "replaced" | "expired" | "unknown";

/** `value` is what the browser keeps: as a cookie, or in the memory of a frame. */
export type OpenedSession = { value: string; expiresAt: Date; intent: IntentRow };

/**
 * Exchanges a credential for a session of one intent. The session outlives its credential, so that a repeated create
 * does not close the page before a payer.
 */
export async function openSession(
  world: SessionWorld,
  { intentId, credential }: { intentId: string; credential: Credential },
): Promise<OpenedSession | { refusal: Refusal }> {
  const intent = await findIntentById(world.db, intentId);
  if (intent === undefined) return { refusal: "unknown" };
  const refusal = await checkCredential(world, intent, credential);
  if (refusal !== undefined) return { refusal };
  const expiresAt = addMs(world.clock.now(), SESSION_MS);
  const expiresAtMs = expiresAt.getTime();
  const value = `${expiresAtMs}.${await sign(world, intent.id, { for: "session", expiresAtMs })}`;
  return { value, expiresAt, intent };
}

async function checkCredential(
  world: SessionWorld,
  intent: IntentRow,
  credential: Credential,
): Promise<Refusal | undefined> {
  if ("widgetToken" in credential) {
    if (!isWidgetToken(credential.widgetToken)) return "unknown";
    const isLatest = isEqualConstantTime(hashWidgetToken(credential.widgetToken), intent.widget_token_hash);
    return isLatest ? undefined : "replaced";
  }
  if ("code" in credential) {
    const isRedeemed =
      isHandoffCode(credential.code) &&
      (await redeemHandoffCode(world, { intentId: intent.id, code: credential.code }));
    return isRedeemed ? undefined : "unknown";
  }
  if (!credential.ticket.startsWith(TICKET_PREFIX)) return "unknown";
  const signed = credential.ticket.slice(TICKET_PREFIX.length);
  const result = await checkSignature(world, { intentId: intent.id, signed, for: "ticket" });
  return result === "valid" ? undefined : result;
}

/** A short-lived ticket that lets a page of a listed origin embed one intent's checkout. */
export type Ticket = { ticket: string; expiresAt: Date };

/**
 * Issues a ticket for a page of `origin`, the value of the browser's Origin header. Returns undefined unless the origin
 * equals an entry of the account's list. A ticket authenticates the origin of the page only, never its visitor.
 */
export async function issueTicket(
  world: SessionWorld,
  request: { intentId: string; origin: string },
): Promise<Ticket | undefined> {
  const intent = await findIntentById(world.db, request.intentId);
  if (intent === undefined) return undefined;
  const origins = await listPageOriginRows(world.db.root, intent.account_id);
  if (!origins.includes(request.origin)) return undefined;
  const expiresAt = addMs(world.clock.now(), TICKET_MS);
  const expiresAtMs = expiresAt.getTime();
  return {
    ticket: `${TICKET_PREFIX}${expiresAtMs}.${await sign(world, intent.id, { for: "ticket", expiresAtMs })}`,
    expiresAt,
  };
}

/** Whether a value is a valid session of an intent. It reads nothing: the signature names the intent. */
export async function checkSession(
  world: SessionWorld,
  session: { intentId: string; value: string | undefined },
): Promise<"valid" | Refusal> {
  return checkSignature(world, { intentId: session.intentId, signed: session.value ?? "", for: "session" });
}

type Purpose = "session" | "ticket";

async function checkSignature(
  world: SessionWorld,
  token: { intentId: string; signed: string; for: Purpose },
): Promise<"valid" | "expired" | "unknown"> {
  const match = /^(\d{1,16})\.([A-Za-z0-9_-]{43})$/.exec(token.signed);
  if (!match?.[1] || !match[2]) return "unknown";
  const expiresAtMs = Number(match[1]);
  const expected = await sign(world, token.intentId, { for: token.for, expiresAtMs });
  if (!isEqualConstantTime(Buffer.from(expected), Buffer.from(match[2]))) return "unknown";
  return expiresAtMs <= world.clock.now().getTime() ? "expired" : "valid";
}

async function sign(
  world: SessionWorld,
  intentId: string,
  claims: { for: Purpose; expiresAtMs: number },
): Promise<string> {
  const { signingSecret: secret } = await ensureDeployment(world);
  return createHmac("sha256", secret).update(`${claims.for}\n${intentId}\n${claims.expiresAtMs}\n`).digest("base64url");
}

function isEqualConstantTime(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
