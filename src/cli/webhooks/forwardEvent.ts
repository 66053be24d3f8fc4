import type { Event } from "@tributary/client/types";
import { systemClock } from "../../kernel/clock.ts";
import { signatureHeaders } from "../../webhook/sign.ts";

const TIMEOUT_MS = 15_000;
const SECRET_PREFIX = "whsec_";

/** The status of the answer, or why none came. */
export type ForwardAnswer = { status: number | null; error: string | null };

/** Posts an event to a developer's own server, as the service posts webhooks. */
export async function forwardEvent({
  event,
  url,
  secret,
}: {
  event: Event;
  url: string;
  secret: string;
}): Promise<ForwardAnswer> {
  const body = JSON.stringify(event);
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, "base64");
  const signed = signatureHeaders({ id: event.id, at: systemClock.now(), body, secrets: [key] });
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...signed, "content-type": "application/json", "user-agent": "Tributary (webhooks listen)" },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return { status: response.status, error: null };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { status: null, error: cause instanceof Error ? cause.message : String(cause) };
  }
}
