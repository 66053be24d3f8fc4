import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { webhookEndpointRecord } from "../../../webhook/endpoint/endpoint.ts";
import { listEndpointRows } from "../../../webhook/endpoint/endpointStore.ts";
import { webhookEndpointExample } from "../../schema/eventExamples.ts";
import { webhookEndpointList } from "../../schema/records/event.ts";
import { defineOperation } from "../../operation.ts";

export const listWebhookEndpoints = defineOperation({
  operationId: "listWebhookEndpoints",
  method: "GET",
  path: "/api/v1/webhook-endpoints",
  group: "Webhooks",
  summary: "List the webhook endpoints",
  description: `All endpoints of the account.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  perMinute: 120,
  success: {
    status: 200,
    description: "The endpoints.",
    schema: webhookEndpointList,
    example: { object: "list", data: [webhookEndpointExample] },
  },
  faults: [],
  async handle(world, { account }) {
    const rows = await listEndpointRows(world.db.root, account.id);
    return { status: 200, body: { object: "list", data: rows.map(webhookEndpointRecord) } };
  },
});
