import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { deleteEndpoint } from "../../../webhook/endpoint/manageEndpoints.ts";
import { deletedWebhookEndpoint } from "../../schema/requests/webhookEndpoint.ts";
import { emptyBody } from "../../schema/requests/emptyBody.ts";
import { defineOperation } from "../../operation.ts";

export const deleteWebhookEndpoint = defineOperation({
  operationId: "deleteWebhookEndpoint",
  method: "DELETE",
  path: "/api/v1/webhook-endpoints/{id}",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Delete a webhook endpoint",
  description: `It gets nothing more, and its log of deliveries is deleted.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  perMinute: 30,
  body: emptyBody,
  success: { status: 200, description: "It is deleted.", schema: deletedWebhookEndpoint, example: { deleted: true } },
  faults: [],
  async handle(world, { account, id }) {
    await deleteEndpoint(world, { accountId: account.id, endpointId: id });
    return { status: 200, body: { deleted: true } };
  },
});
