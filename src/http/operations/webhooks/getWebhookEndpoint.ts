import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { webhookEndpointRecord } from "../../../webhook/endpoint/endpoint.ts";
import { getEndpoint } from "../../../webhook/endpoint/manageEndpoints.ts";
import { webhookEndpointExample } from "../../schema/eventExamples.ts";
import { webhookEndpoint } from "../../schema/records/event.ts";
import { defineOperation } from "../../operation.ts";

export const getWebhookEndpoint = defineOperation({
  operationId: "getWebhookEndpoint",
  method: "GET",
  path: "/api/v1/webhook-endpoints/{id}",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Get a webhook endpoint",
  description: `One endpoint, without its secret.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  perMinute: 120,
  success: { status: 200, description: "The endpoint.", schema: webhookEndpoint, example: webhookEndpointExample },
  faults: [],
  async handle(world, { account, id }) {
    const endpoint = await getEndpoint(world, { accountId: account.id, endpointId: id });
    return { status: 200, body: webhookEndpointRecord(endpoint) };
  },
});
