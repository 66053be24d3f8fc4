import { hash } from "node:crypto";
import { addMs } from "../../kernel/clock.ts";
import type { World } from "../../world.ts";
import { deleteExpiredHandoffs, insertHandoff, takeHandoff } from "./handoffStore.ts";

// A code that opens the page in another browser, such as a phone wallet's own, which has other cookies. It is in a link
// that passes through other apps, so it works once and for two minutes.

const CODE_BYTES = 24;
const CODE_MS = 2 * 60_000;
const PATTERN = /^hc_[A-Za-z0-9_-]{32}$/;

export type HandoffCode = { code: string; expiresAt: Date };

/** Issues a code for an intent. The caller has checked the session. The database stores only its hash. */
export async function issueHandoffCode(
  { db, clock, entropy }: Pick<World, "db" | "clock" | "entropy">,
  intentId: string,
): Promise<HandoffCode> {
  const code = `hc_${Buffer.from(entropy.bytes(CODE_BYTES)).toString("base64url")}`;
  const expiresAt = addMs(clock.now(), CODE_MS);
  await insertHandoff(db, { code_hash: hashCode(code), intent_id: intentId, expires_at: expiresAt });
  return { code, expiresAt };
}

export function isHandoffCode(text: string): boolean {
  return PATTERN.test(text);
}

/** Uses a code. Returns false when it is expired, used, or for another intent. */
export async function redeemHandoffCode(
  { db, clock }: Pick<World, "db" | "clock">,
  { intentId, code }: { intentId: string; code: string },
): Promise<boolean> {
  return takeHandoff(db, { codeHash: hashCode(code), intentId, now: clock.now() });
}

/** Deletes up to `limit` codes that expired unused, and returns their number. */
export async function purgeHandoffCodes({ db, clock }: Pick<World, "db" | "clock">, limit: number): Promise<number> {
  return deleteExpiredHandoffs(db, { before: clock.now(), limit });
}

function hashCode(code: string): Uint8Array {
  return new Uint8Array(hash("sha256", code, "buffer"));
}
