import type { Selectable } from "kysely";
import { outboundPolicy } from "../../config/outbound.ts";
import type { Config } from "../../config/config.ts";
import type { EarlierSecret, WebhookDisabledReason, WebhookEndpointTable } from "../webhookTables.ts";
import { eventTypeNumbers } from "../../event/event.ts";
import { Fault } from "../../kernel/faults.ts";
import { refuseUrl } from "../../kernel/outbound/outbound.ts";

export type WebhookEndpoint = Selectable<WebhookEndpointTable>;

const URL_CHARACTERS_MAX = 2_000;
const EVERY_TYPE = "*";

/** An endpoint as the API and the events show it. Its secret is shown only where it is new. */
export type WebhookEndpointRecord = {
  object: "webhook_endpoint";
  webhookEndpointId: string;
  url: string;
  types: string[];
  description: string | null;
  status: "enabled" | "disabled";
  disabledReason: WebhookDisabledReason | null;
  /** Of the first of the failures since the last success; null after a success. */
  failingSince: string | null;
  createdAt: string;
};

export function webhookEndpointRecord(row: WebhookEndpoint): WebhookEndpointRecord {
  return {
    object: "webhook_endpoint",
    webhookEndpointId: row.id,
    url: row.url,
    types: row.types,
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}

/** A secret in the form of Standard Webhooks. */
export function secretText(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString("base64")}`;
}

/** The secrets from before rotations that sign as well, the latest first. */
export function validSecrets({ earlier_secrets: earlier }: WebhookEndpoint, at: Date): EarlierSecret[] {
  const now = at.toISOString();
  return earlier.filter(({ until }) => until > now);
}

/** Throws invalid_request that names the field. */
export function requireUrl(config: Pick<Config, "environment" | "outbound">, text: string, param = "url"): string {
  const url = text.length <= URL_CHARACTERS_MAX ? URL.parse(text) : null;
  // Each try stores the address, where a character may take nine.
  const isTooLong = text.length > URL_CHARACTERS_MAX || (url?.href.length ?? 0) > URL_CHARACTERS_MAX;
  const refusal = isTooLong ? "it is too long" : refuseUrl(outboundPolicy(config), url);
  if (url === null || refusal !== undefined)
    throw new Fault("invalid_request", {
      param,
      message: `${param} must be a public URL: ${refusal ?? "it is none"}.`,
    });
  return url.href;
}

/** Throws invalid_request for a type that no event has, and no prefix of types either. */
export function requireTypes(types: readonly string[]): string[] {
  const unknown = types.find((type) => type !== EVERY_TYPE && eventTypeNumbers(type).length === 0);
  if (types.length > 0 && unknown === undefined) return [...new Set(types)];
  const known = `event types such as ["payment_intent.settled", "deposit.*"], or ["*"]`;
  const message =
    unknown === undefined ? `types must be ${known}.` : `No event has the type ${unknown}; types are ${known}.`;
  throw new Fault("invalid_request", { param: "types", message });
}

/** The numbers of the types that an endpoint gets; undefined for every type, those of later versions included. */
export function wantedTypes(types: readonly string[]): number[] | undefined {
  if (types.includes(EVERY_TYPE)) return undefined;
  return types.flatMap(eventTypeNumbers);
}
