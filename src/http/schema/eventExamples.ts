import type { AuditRecord } from "../../dashboard/auditStore.ts";
import type { EventRecord } from "../../event/showEvent.ts";
import { secretText, type WebhookEndpointRecord } from "../../webhook/endpoint/endpoint.ts";
import type { WebhookDeliveryRecord } from "../../webhook/listDeliveries.ts";
import { listedIntentExample } from "./examples.ts";

export const EXAMPLE_EVENT_ID = "evt_5k8m1p4r7t0v3x6z9b2d5f8h1j";
export const EXAMPLE_ENDPOINT_ID = "we_2m5p8r1t4v7x0z3b6d9f2h5k8m";

export const eventExample: EventRecord = {
  id: EXAMPLE_EVENT_ID,
  object: "event",
  type: "payment_intent.settled",
  sequence: 42,
  livemode: true,
  apiVersion: "2026-11-01",
  createdAt: "2026-11-01T12:03:00.000Z",
  intentId: listedIntentExample.intentId,
  merchantReference: listedIntentExample.merchantReference,
  data: { object: listedIntentExample, previous: { status: "active" } },
};

export const webhookEndpointExample: WebhookEndpointRecord = {
  object: "webhook_endpoint",
  webhookEndpointId: EXAMPLE_ENDPOINT_ID,
  url: "https://shop.example/webhooks",
  types: ["payment_intent.*"],
  description: "the shop",
  status: "enabled",
  disabledReason: null,
  failingSince: null,
  createdAt: "2026-11-01T12:00:00.000Z",
};

export const webhookSecretExample = {
  ...webhookEndpointExample,
  secret: secretText(new TextEncoder().encode("thirty-two bytes of an example!!")),
};

export const webhookDeliveryExample: WebhookDeliveryRecord = {
  object: "webhook_delivery",
  eventId: EXAMPLE_EVENT_ID,
  type: "payment_intent.settled",
  sequence: 42,
  status: "succeeded",
  isReplay: false,
  nextTryAt: null,
  createdAt: "2026-11-01T12:03:00.200Z",
  closedAt: "2026-11-01T12:03:00.290Z",
  attempts: [
    {
      attempt: 1,
      at: "2026-11-01T12:03:00.210Z",
      url: "https://shop.example/webhooks",
      statusCode: 204,
      error: null,
      connectedMs: 31,
      firstByteMs: 74,
      totalMs: 75,
      answer: "",
    },
  ],
};

export const auditEntryExample: AuditRecord = {
  object: "audit_entry",
  number: 7,
  at: "2026-11-01T12:00:00.000Z",
  actor: "member mem_4n7q0s3v6y9b1e5h8j2m4p7r0t",
  action: "payout_change.proposed",
  details: { payoutChangeId: "poc_1a3c5e7g9j2m4p6r8t0v2x4z6b" },
};
