import { createHmac, timingSafeEqual } from "node:crypto";
import { addMs } from "../kernel/clock.ts";
import { listPageOriginRows } from "../merchant/store.ts";
import type { World } from "../world.ts";
import { ensureDeployment } from "./deployment.ts";
import { findIntentForPage, type IntentRow } from "./store.ts";
import { hashWidgetToken, isWidgetToken } from "./widgetToken.ts";

type SessionWorld = Pick<World, "db" | "clock" | "entropy">;

/** How long a payer may keep the page open; opening it again takes the same token. */
export const SESSION_MS = 24 * 3_600_000;
/** From the merchant's page to the frame inside it. */
const TICKET_MS = 60_000;
const TICKET_PREFIX = "et_";

/**
 * Exchanges a widget token for the value of the page's cookie; undefined when it is not the latest token of this intent.
 * The session outlives the token: a merchant who creates again must not close the page in front of a payer.
 */
export async function openSession(
  world: SessionWorld,
  of: { intentId: string; widgetToken: string },
): Promise<string | undefined> {
  const intent = isWidgetToken(of.widgetToken) ? await findIntentForPage(world.db, of.intentId) : undefined;
  if (intent === undefined || !isEqual(hashWidgetToken(of.widgetToken), intent.widget_token_hash)) return undefined;
  return sessionOf(world, intent);
}

/** What lets a merchant's page embed one intent's checkout once it has proved where it lives. */
export type Ticket = { ticket: string; expiresAt: Date };

/**
 * A ticket for a page of `origin`, as the browser tells it; undefined when the origin is not, letter for letter, on the list of the
 * intent's account. What it proves is where the asking page lives, and nothing about whoever sits before it.
 */
export async function openTicket(
  world: SessionWorld,
  of: { intentId: string; origin: string },
): Promise<Ticket | undefined> {
  const intent = await findIntentForPage(world.db, of.intentId);
  if (intent === undefined) return undefined;
  const origins = await listPageOriginRows(world.db.read, intent.account_id);
  if (!origins.includes(of.origin)) return undefined;
  const expiresAt = addMs(world.clock.now(), TICKET_MS);
  const endsMs = expiresAt.getTime();
  return {
    ticket: `${TICKET_PREFIX}${endsMs}.${await signature(world, intent, { for: "ticket", endsMs })}`,
    expiresAt,
  };
}

/** Exchanges a ticket for the value of the embedded page's cookie; undefined when it was not given for this intent, or is over. */
export async function openEmbeddedSession(
  world: SessionWorld,
  of: { intentId: string; ticket: string },
): Promise<string | undefined> {
  if (!of.ticket.startsWith(TICKET_PREFIX)) return undefined;
  const signed = of.ticket.slice(TICKET_PREFIX.length);
  const intent = await findSignedIntent(world, { intentId: of.intentId, signed, for: "ticket" });
  return intent && sessionOf(world, intent);
}

/** The web origins whose pages may frame an intent's checkout; none for an id that was never created. */
export async function listIntentPageOrigins(world: Pick<World, "db">, intentId: string): Promise<string[]> {
  const intent = await findIntentForPage(world.db, intentId);
  return intent === undefined ? [] : listPageOriginRows(world.db.read, intent.account_id);
}

/** The intent that a cookie opens; undefined when it was not given for it, or is over. */
export async function findSessionIntent(
  world: SessionWorld,
  of: { intentId: string; cookie: string | undefined },
): Promise<IntentRow | undefined> {
  return findSignedIntent(world, { intentId: of.intentId, signed: of.cookie ?? "", for: "session" });
}

async function sessionOf(world: SessionWorld, intent: IntentRow): Promise<string> {
  const endsMs = world.clock.now().getTime() + SESSION_MS;
  return `${endsMs}.${await signature(world, intent, { for: "session", endsMs })}`;
}

type Purpose = "session" | "ticket";

async function findSignedIntent(
  world: SessionWorld,
  of: { intentId: string; signed: string; for: Purpose },
): Promise<IntentRow | undefined> {
  const match = /^(\d{1,16})\.([A-Za-z0-9_-]{43})$/.exec(of.signed);
  if (!match?.[1] || !match[2]) return undefined;
  const endsMs = Number(match[1]);
  if (endsMs <= world.clock.now().getTime()) return undefined;
  const intent = await findIntentForPage(world.db, of.intentId);
  if (intent === undefined) return undefined;
  const expected = await signature(world, intent, { for: of.for, endsMs });
  return isEqual(Buffer.from(expected), Buffer.from(match[2])) ? intent : undefined;
}

async function signature(
  world: SessionWorld,
  intent: IntentRow,
  of: { for: Purpose; endsMs: number },
): Promise<string> {
  const { signingSecret: secret } = await ensureDeployment(world.db, world.entropy);
  return createHmac("sha256", secret).update(`${of.for}\n${intent.id}\n${of.endsMs}\n`).digest("base64url");
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
