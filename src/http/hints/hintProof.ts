import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { HintProvider } from "../../config/config.ts";

// How each provider proves that a request is its own. Every comparison takes the same time whatever differs.

const TOLERANCE_S = 300;
const HEX_SHA256 = /^[0-9a-f]{64}$/i;

type Proof = {
  /** Whether the headers could be a proof at all: looked at before the body is read. */
  isPlausible(headers: IncomingHttpHeaders, secret: string): boolean;
  isValid(given: { headers: IncomingHttpHeaders; body: Uint8Array; secret: string; nowS: number }): boolean;
};

export const PROOFS: Readonly<Record<HintProvider, Proof>> = {
  /** An HMAC of the body. */
  alchemy: {
    isPlausible: (headers) => HEX_SHA256.test(read(headers, "x-alchemy-signature")),
    isValid: ({ headers, body, secret }) => isHmac(read(headers, "x-alchemy-signature"), secret, [body]),
  },
  /** An HMAC of nonce, time and body, within five minutes. */
  quicknode: {
    isPlausible: (headers) =>
      HEX_SHA256.test(read(headers, "x-qn-signature")) && /^\d{1,13}$/.test(read(headers, "x-qn-timestamp")),
    isValid: ({ headers, body, secret, nowS }) => {
      const timestamp = read(headers, "x-qn-timestamp");
      if (Math.abs(nowS - toSeconds(timestamp)) > TOLERANCE_S) return false;
      return isHmac(read(headers, "x-qn-signature"), secret, [read(headers, "x-qn-nonce"), timestamp, body]);
    },
  },
  /** A header that the operator has given to the provider. */
  helius: {
    isPlausible: ({ authorization = "" }, secret) => isEqualText(authorization, secret),
    isValid: ({ headers: { authorization = "" }, secret }) => isEqualText(authorization, secret),
  },
};

function read(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}

/** Given in seconds, or with three more digits in milliseconds. */
function toSeconds(timestamp: string): number {
  return timestamp.length > 11 ? Number(timestamp) / 1_000 : Number(timestamp);
}

function isHmac(signature: string, secret: string, parts: readonly (string | Uint8Array)[]): boolean {
  const hmac = createHmac("sha256", secret);
  for (const part of parts) hmac.update(part);
  const given = Buffer.from(signature, "hex");
  const expected = hmac.digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Of texts of any length: their digests are compared. */
function isEqualText(given: string, expected: string): boolean {
  const digest = (text: string) => createHmac("sha256", "comparison").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
