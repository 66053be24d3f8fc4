import { createHmac, timingSafeEqual } from "node:crypto";
import type { World } from "../world.ts";
import { ensureDeployment } from "./deployment.ts";
import { findIntentForPage, type IntentRow } from "./store.ts";
import { hashWidgetToken, isWidgetToken } from "./widgetToken.ts";

type SessionWorld = Pick<World, "db" | "clock" | "entropy">;

/** How long a payer may keep the page open; opening it again takes the same token. */
export const SESSION_MS = 24 * 3_600_000;

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
  const endsMs = world.clock.now().getTime() + SESSION_MS;
  return `${endsMs}.${await signature(world, intent, endsMs)}`;
}

/** The intent that a cookie opens; undefined when it was not given for it, or is over. */
export async function findSessionIntent(
  world: SessionWorld,
  of: { intentId: string; cookie: string | undefined },
): Promise<IntentRow | undefined> {
  const match = /^(\d{1,16})\.([A-Za-z0-9_-]{43})$/.exec(of.cookie ?? "");
  if (!match?.[1] || !match[2]) return undefined;
  const endsMs = Number(match[1]);
  if (endsMs <= world.clock.now().getTime()) return undefined;
  const intent = await findIntentForPage(world.db, of.intentId);
  if (intent === undefined) return undefined;
  const expected = await signature(world, intent, endsMs);
  return isEqual(Buffer.from(expected), Buffer.from(match[2])) ? intent : undefined;
}

async function signature(world: SessionWorld, intent: IntentRow, endsMs: number): Promise<string> {
  const { signingSecret: secret } = await ensureDeployment(world.db, world.entropy);
  return createHmac("sha256", secret).update(`session\n${intent.id}\n${endsMs}\n`).digest("base64url");
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
