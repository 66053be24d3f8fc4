import { createHmac, timingSafeEqual } from "node:crypto";
import { addMs } from "../../kernel/clock.ts";
import { listPageOriginRows } from "../../merchant/store.ts";
import type { World } from "../../world.ts";
import { ensureDeployment } from "../deployment.ts";
import { findIntentById, type IntentRow } from "../store.ts";
import { hashWidgetToken, isWidgetToken } from "./widgetToken.ts";

type SessionWorld = Pick<World, "db" | "clock" | "entropy" | "memory">;

/** Lifetime of a checkout session. The same widget token opens another session. */
export const SESSION_MS = 24 * 3_600_000;
/** Lifetime of a ticket: the merchant's page passes it to the frame at once. */
const TICKET_MS = 60_000;
const TICKET_PREFIX = "et_";

/**
 * Exchanges a widget token for the value of the page's cookie; undefined unless it is the intent's latest token.
 * The session outlives the token, so that a repeated create does not end a payer's open session.
 */
export async function createSession(
  world: SessionWorld,
  credentials: { intentId: string; widgetToken: string },
): Promise<string | undefined> {
  const intent = isWidgetToken(credentials.widgetToken)
    ? await findIntentById(world.db, credentials.intentId)
    : undefined;
  if (intent === undefined || !isEqualConstantTime(hashWidgetToken(credentials.widgetToken), intent.widget_token_hash))
    return undefined;
  return signSession(world, intent);
}

/** A short-lived ticket that lets a page of a listed origin embed one intent's checkout. */
export type Ticket = { ticket: string; expiresAt: Date };

/**
 * Issues a ticket for a page of `origin`, the value of the browser's Origin header. Returns undefined unless the origin equals an
 * entry of the account's list. A ticket authenticates the origin of the page only, never its visitor.
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
    ticket: `${TICKET_PREFIX}${expiresAtMs}.${await sign(world, intent, { for: "ticket", expiresAtMs })}`,
    expiresAt,
  };
}

/** Exchanges a ticket for the value of the embedded page's cookie; undefined when it is expired or for another intent. */
export async function createEmbeddedSession(
  world: SessionWorld,
  credentials: { intentId: string; ticket: string },
): Promise<string | undefined> {
  if (!credentials.ticket.startsWith(TICKET_PREFIX)) return undefined;
  const signed = credentials.ticket.slice(TICKET_PREFIX.length);
  const intent = await findSignedIntent(world, { intentId: credentials.intentId, signed, for: "ticket" });
  return intent && signSession(world, intent);
}

/** The web origins that may frame an intent's checkout; empty for an unknown id. */
export async function listIntentPageOrigins(world: Pick<World, "db">, intentId: string): Promise<string[]> {
  const intent = await findIntentById(world.db, intentId);
  return intent === undefined ? [] : listPageOriginRows(world.db.root, intent.account_id);
}

/** The intent of a session cookie; undefined when the cookie is expired or for another intent. */
export async function findSessionIntent(
  world: SessionWorld,
  credentials: { intentId: string; cookie: string | undefined },
): Promise<IntentRow | undefined> {
  return findSignedIntent(world, { intentId: credentials.intentId, signed: credentials.cookie ?? "", for: "session" });
}

async function signSession(world: SessionWorld, intent: IntentRow): Promise<string> {
  const expiresAtMs = world.clock.now().getTime() + SESSION_MS;
  return `${expiresAtMs}.${await sign(world, intent, { for: "session", expiresAtMs })}`;
}

type Purpose = "session" | "ticket";

async function findSignedIntent(
  world: SessionWorld,
  token: { intentId: string; signed: string; for: Purpose },
): Promise<IntentRow | undefined> {
  const match = /^(\d{1,16})\.([A-Za-z0-9_-]{43})$/.exec(token.signed);
  if (!match?.[1] || !match[2]) return undefined;
  const expiresAtMs = Number(match[1]);
  if (expiresAtMs <= world.clock.now().getTime()) return undefined;
  const intent = await findIntentById(world.db, token.intentId);
  if (intent === undefined) return undefined;
  const expected = await sign(world, intent, { for: token.for, expiresAtMs });
  return isEqualConstantTime(Buffer.from(expected), Buffer.from(match[2])) ? intent : undefined;
}

async function sign(
  world: SessionWorld,
  intent: IntentRow,
  claims: { for: Purpose; expiresAtMs: number },
): Promise<string> {
  const { signingSecret: secret } = await ensureDeployment(world);
  return createHmac("sha256", secret)
    .update(`${claims.for}\n${intent.id}\n${claims.expiresAtMs}\n`)
    .digest("base64url");
}

function isEqualConstantTime(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
