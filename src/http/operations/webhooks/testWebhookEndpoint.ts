import { runOnce } from "../../../idempotency/runOnce.ts";
import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { getEndpoint } from "../../../webhook/endpoint/manageEndpoints.ts";
import { addTestEvent } from "../../../webhook/redeliver.ts";
import { eventExample } from "../../schema/eventExamples.ts";
import { event } from "../../schema/records/event.ts";
import { emptyBody } from "../../schema/requests/emptyBody.ts";
import { defineOperation } from "../../operation.ts";

export const testWebhookEndpoint = defineOperation({
  operationId: "testWebhookEndpoint",
  method: "POST",
  path: "/api/v1/webhook-endpoints/{id}/test",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Send a test event",
  description: `Sends an event of the type \`webhook_endpoint.test\` to this endpoint alone. It is in no feed.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  acceptsIdempotencyKey: true,
  perMinute: 30,
  body: emptyBody,
  success: {
    status: 202,
    description: "The event that is sent.",
    schema: event,
    example: { ...eventExample, type: "webhook_endpoint.test", sequence: 0 },
  },
  faults: ["webhook_endpoint_disabled"],
  async handle(world, { account, id, idempotentRequest }) {
    const key = { accountId: account.id, endpointId: id };
    await getEndpoint(world, key);
    return runOnce(world, idempotentRequest, {
      run: async (tx) => ({ status: 202, body: await addTestEvent(tx, world, key) }) as const,
    });
  },
});
