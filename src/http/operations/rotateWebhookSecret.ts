import { MANAGE_WEBHOOKS } from "../../merchant/keys/scopes.ts";
import { secretText, webhookEndpointRecord } from "../../webhook/endpoint/endpoint.ts";
import { rotateSecret } from "../../webhook/endpoint/manageEndpoints.ts";
import { webhookSecretExample } from "../schema/eventExamples.ts";
import { webhookEndpointWithSecret } from "../schema/records/event.ts";
import { emptyBody } from "../schema/requests/emptyBody.ts";
import { defineOperation } from "../operation.ts";

export const rotateWebhookSecret = defineOperation({
  operationId: "rotateWebhookSecret",
  method: "POST",
  path: "/api/v1/webhook-endpoints/{id}/rotate-secret",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Rotate the secret of a webhook endpoint",
  description: `The earlier secret signs beside the new one for 24 hours.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  perMinute: 30,
  body: emptyBody,
  success: {
    status: 200,
    description: "The endpoint, with its new secret.",
    schema: webhookEndpointWithSecret,
    example: webhookSecretExample,
  },
  faults: [],
  async handle(world, { account, id }) {
    const endpoint = await rotateSecret(world, { accountId: account.id, endpointId: id });
    return { status: 200, body: { ...webhookEndpointRecord(endpoint), secret: secretText(endpoint.secret) } };
  },
});
