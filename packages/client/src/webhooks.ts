// Webhooks as Standard Webhooks signs them. It needs WebCrypto alone, so it runs in Node, in workers and on the edge.

import type { WebhookEvent } from "./api.generated.ts";

export type { WebhookEvent };

export type WebhookRefusal =
  | "missing_header"
  | "invalid_timestamp"
  /** Signed more than the tolerance ago: a repeat, or a clock that is wrong. */
  | "too_old"
  | "too_new"
  | "wrong_signature"
  /** Signed by the service, and no JSON. */
  | "invalid_body";

/** Thrown when a request is no webhook of the service. Answer it with 400, and use nothing of it. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly code: WebhookRefusal;
  constructor(code: WebhookRefusal) {
    super(`the webhook is refused: ${code}`);
    this.code = code;
  }
}

export type VerifyOptions = {
  readonly secrets: string | readonly string[];
  /** How far the signature's time may be from now; 300 seconds by default. */
  readonly toleranceS?: number;
  /** The time now; the clock's by default. */
  readonly now?: Date;
};

/** As the request has them: `Headers`, or an object such as Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_S = 300;
const SECRET_PREFIX = "whsec_";
const VERSION_PREFIX = "v1,";
/** A rotation has two signatures; a request with thousands is no webhook. */
const SIGNATURES_MAX = 32;
const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/**
 * Verifies a webhook and returns its event. `rawBody` is the request's body as it came, before anything parsed it;
 * `given` is the endpoint's secret, or both while they rotate, or options with them. Throws a WebhookVerificationError
 * for a request that the service did not sign within the last five minutes, and a TypeError for a secret that is none.
 */
async function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  given: string | readonly string[] | VerifyOptions,
): Promise<WebhookEvent> {
  const { secrets, toleranceS = TOLERANCE_S, now = new Date() } = isOptions(given) ? given : { secrets: given };
  if (!Number.isFinite(toleranceS) || toleranceS < 0) throw new TypeError("toleranceS must be a number of seconds");
  if (Number.isNaN(now.getTime())) throw new TypeError("now must be a valid date");
  const keys = await Promise.all((typeof secrets === "string" ? [secrets] : secrets).map(importSecret));
  if (keys.length === 0) throw new TypeError("verify needs a secret");
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signatures = readHeader(headers, "webhook-signature").split(" ", SIGNATURES_MAX);
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError("invalid_timestamp");
  const ageS = now.getTime() / 1_000 - Number(timestamp);
  if (ageS > toleranceS) throw new WebhookVerificationError("too_old");
  if (ageS < -toleranceS) throw new WebhookVerificationError("too_new");
  const body = typeof rawBody === "string" ? new TextEncoder().encode(rawBody) : rawBody;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  if (!(await isSigned(signed, signatures, keys))) throw new WebhookVerificationError("wrong_signature");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError("invalid_body");
  }
}

export const webhooks = { verify };

function isOptions(given: string | readonly string[] | VerifyOptions): given is VerifyOptions {
  return typeof given === "object" && "secrets" in given;
}

/** WebCrypto compares in constant time. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  keys: readonly CryptoKey[],
): Promise<boolean> {
  for (const signature of signatures) {
    const bytes = signature.startsWith(VERSION_PREFIX) ? fromBase64(signature.slice(VERSION_PREFIX.length)) : undefined;
    if (bytes === undefined) continue;
    for (const key of keys) if (await crypto.subtle.verify(HMAC, key, bytes, signed)) return true;
  }
  return false;
}

async function importSecret(secret: string): Promise<CryptoKey> {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const bytes = fromBase64(text);
  // The message does not repeat the secret: it may be logged.
  if (bytes === undefined || bytes.length === 0) throw new TypeError("a webhook secret is whsec_ and base64");
  return crypto.subtle.importKey("raw", bytes, HMAC, false, ["verify"]);
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = typeof headers["get"] === "function" ? headers.get(name) : findHeader(headers, name);
  // A header that came twice names nothing for certain.
  if (typeof value !== "string" || value === "") throw new WebhookVerificationError("missing_header");
  return value;
}

/** Frameworks keep the letters of names as they came. */
function findHeader(headers: object, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
