import { runOnce } from "../../../idempotency/runOnce.ts";
import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { secretText, webhookEndpointRecord } from "../../../webhook/endpoint/endpoint.ts";
import { addEndpoint, readSecret } from "../../../webhook/endpoint/manageEndpoints.ts";
import { webhookSecretExample } from "../../schema/eventExamples.ts";
import { webhookEndpointWithSecret } from "../../schema/records/event.ts";
import { createWebhookEndpointBody } from "../../schema/requests/webhookEndpoint.ts";
import { defineOperation } from "../../operation.ts";

export const createWebhookEndpoint = defineOperation({
  operationId: "createWebhookEndpoint",
  method: "POST",
  path: "/api/v1/webhook-endpoints",
  group: "Webhooks",
  summary: "Create a webhook endpoint",
  description: `It gets the events from now on. The secret is in this answer only. An account may have 16 endpoints.

While the deliveries of 48 deleted ones are still being removed, a call is answered \`rate_limited\`. One that delivered a thousand events again counts for a day.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  acceptsIdempotencyKey: true,
  perMinute: 30,
  body: createWebhookEndpointBody,
  bodyExamples: { "Every event of intents": { url: "https://shop.example/webhooks", types: ["payment_intent.*"] } },
  success: {
    status: 201,
    description: "The endpoint, with its secret.",
    schema: webhookEndpointWithSecret,
    example: webhookSecretExample,
  },
  faults: ["webhook_endpoint_limit"],
  async handle(world, { account: { id: accountId }, body: input, idempotentRequest }) {
    return runOnce(world, idempotentRequest, {
      async run(tx) {
        const endpoint = await addEndpoint(tx, world, { accountId, input });
        const secrets = { secret: secretText(endpoint.secret) };
        return { status: 201, body: webhookEndpointRecord(endpoint), secrets } as const;
      },
      renewSecrets: (tx, { webhookEndpointId: endpointId }) => readSecret(tx, { accountId, endpointId }),
    });
  },
});
