import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { webhookEndpointRecord } from "../../../webhook/endpoint/endpoint.ts";
import { changeEndpoint } from "../../../webhook/endpoint/manageEndpoints.ts";
import { webhookEndpointExample } from "../../schema/eventExamples.ts";
import { webhookEndpoint } from "../../schema/records/event.ts";
import { updateWebhookEndpointBody } from "../../schema/requests/webhookEndpoint.ts";
import { defineOperation } from "../../operation.ts";

export const updateWebhookEndpoint = defineOperation({
  operationId: "updateWebhookEndpoint",
  method: "PATCH",
  path: "/api/v1/webhook-endpoints/{id}",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Change a webhook endpoint",
  description: `Changes the given fields. An endpoint that is enabled again goes on with the first event that it has not got.`,
  isExtension: true,
  isRetrySafe: true,
  scopes: [MANAGE_WEBHOOKS],
  perMinute: 30,
  body: updateWebhookEndpointBody,
  bodyExamples: { "Enable it again": { status: "enabled" } },
  success: {
    status: 200,
    description: "The endpoint after the change.",
    schema: webhookEndpoint,
    example: webhookEndpointExample,
  },
  faults: [],
  async handle(world, { account, id, body }) {
    const endpoint = await changeEndpoint(world, { accountId: account.id, endpointId: id }, body);
    return { status: 200, body: webhookEndpointRecord(endpoint) };
  },
});
