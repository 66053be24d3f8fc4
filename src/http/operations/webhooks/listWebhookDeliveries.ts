import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { listDeliveries, webhookDeliveryRecord } from "../../../webhook/listDeliveries.ts";
import { getEndpoint } from "../../../webhook/endpoint/manageEndpoints.ts";
import { toListResponse } from "../../listResponse.ts";
import { readPage } from "../../reads/readPage.ts";
import { pageExample } from "../../schema/examples.ts";
import { pageQuery } from "../../schema/records/list.ts";
import { webhookDeliveryExample } from "../../schema/eventExamples.ts";
import { webhookDeliveryList } from "../../schema/components.ts";
import { defineOperation } from "../../operation.ts";

export const listWebhookDeliveries = defineOperation({
  operationId: "listWebhookDeliveries",
  method: "GET",
  path: "/api/v1/webhook-endpoints/{id}/deliveries",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "List the deliveries of a webhook endpoint",
  description: `Every delivery with its tries, newest first. Ended ones are kept for 30 days unless the operator keeps them longer.
A page with \`status\` reads at most 10,000 deliveries, so it may be empty with \`has_more\`.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  perMinute: 120,
  query: {
    ...pageQuery,
    status: {
      type: "string",
      enum: ["pending", "succeeded", "failed"],
      description: "Only deliveries with this status.",
    },
    eventId: { type: "string", minLength: 1, maxLength: 100, description: "Only deliveries of this event." },
  },
  success: {
    status: 200,
    description: "A page of deliveries.",
    schema: webhookDeliveryList,
    example: pageExample(webhookDeliveryExample),
  },
  faults: ["invalid_cursor"],
  async handle(world, { account, id, query: { status, eventId, ...page } }) {
    const endpoint = await getEndpoint(world, { accountId: account.id, endpointId: id });
    const { rows, hasMore, nextCursor } = await readPage(world, {
      list: "webhook_delivery",
      owner: endpoint.id,
      ...page,
      readRows: ({ below, limit }) =>
        listDeliveries(world.db, { endpointNumber: endpoint.number, below, limit, status, eventId }),
      positionOf: ({ number }) => number,
    });
    return { status: 200, body: toListResponse({ records: rows.map(webhookDeliveryRecord), hasMore, nextCursor }) };
  },
});
