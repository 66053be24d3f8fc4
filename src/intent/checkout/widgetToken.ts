import { hash } from "node:crypto";
import type { Entropy } from "../../kernel/entropy.ts";

const TOKEN_BYTES = 32;
const PATTERN = /^wt_[A-Za-z0-9_-]{43}$/;

/**
 * Creates a token that opens the checkout page of one intent. The database stores only its hash; a newer token replaces
 * it.
 */
export function newWidgetToken(entropy: Entropy): { widgetToken: string; hash: Uint8Array } {
  const widgetToken = `wt_${Buffer.from(entropy.bytes(TOKEN_BYTES)).toString("base64url")}`;
  return { widgetToken, hash: hashWidgetToken(widgetToken) };
}

export function isWidgetToken(text: string): boolean {
  return PATTERN.test(text);
}

export function hashWidgetToken(widgetToken: string): Uint8Array {
  return new Uint8Array(hash("sha256", widgetToken, "buffer"));
}
