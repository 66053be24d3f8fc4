import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** A key object costs as much as a signature, and an endpoint signs many. The oldest is evicted first. */
const keys = new Map<string, KeyObject>();
const KEYS_MAX = 10_000;

export type Signed = {
  /** The same on every try. */
  id: string;
  at: Date;
  body: string;
  /** The current secret first. */
  secrets: readonly Uint8Array[];
};

/** The headers of Standard Webhooks. */
export function signatureHeaders({ id, at, body, secrets }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const signature = createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64");
    return `v1,${signature}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

function keyOf(secret: Uint8Array): KeyObject {
  const name = Buffer.from(secret).toString("base64");
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = createSecretKey(secret);
  const [oldest = ""] = keys.size >= KEYS_MAX ? keys.keys() : [];
  keys.delete(oldest);
  keys.set(name, key);
  return key;
}
