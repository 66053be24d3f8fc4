import { runOnce } from "../../../idempotency/runOnce.ts";
import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { secretText, webhookEndpointRecord } from "../../../webhook/endpoint/endpoint.ts";
import { getEndpoint, readSecret, renewSecret } from "../../../webhook/endpoint/manageEndpoints.ts";
import { webhookSecretExample } from "../../schema/eventExamples.ts";
import { webhookEndpointWithSecret } from "../../schema/records/event.ts";
import { emptyBody } from "../../schema/requests/emptyBody.ts";
import { defineOperation } from "../../operation.ts";

export const rotateWebhookSecret = defineOperation({
  operationId: "rotateWebhookSecret",
  method: "POST",
  path: "/api/v1/webhook-endpoints/{id}/rotate-secret",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Rotate the secret of a webhook endpoint",
  description: `The earlier secret signs beside the new one for 24 hours. A secret may be rotated three times in 24 hours; each of the earlier ones signs for its own 24.

Send an \`Idempotency-Key\`, so that a repeat after a lost response does not rotate again.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  acceptsIdempotencyKey: true,
  perMinute: 30,
  body: emptyBody,
  success: {
    status: 200,
    description: "The endpoint, with its new secret.",
    schema: webhookEndpointWithSecret,
    example: webhookSecretExample,
  },
  faults: [],
  async handle(world, { account, id, idempotentRequest }) {
    const key = { accountId: account.id, endpointId: id };
    await getEndpoint(world, key);
    return runOnce(world, idempotentRequest, {
      async run(tx) {
        const endpoint = await renewSecret(tx, world, key);
        const secrets = { secret: secretText(endpoint.secret) };
        return { status: 200, body: webhookEndpointRecord(endpoint), secrets } as const;
      },
      renewSecrets: (tx) => readSecret(tx, key),
    });
  },
});
