import { runOnce } from "../../../idempotency/runOnce.ts";
import { MANAGE_WEBHOOKS } from "../../../merchant/keys/scopes.ts";
import { Fault } from "../../../kernel/faults.ts";
import { getEndpoint } from "../../../webhook/endpoint/manageEndpoints.ts";
import { addRedelivery } from "../../../webhook/redeliver.ts";
import { redeliverBody, redelivered } from "../../schema/requests/webhookEndpoint.ts";
import { EXAMPLE_EVENT_ID } from "../../schema/eventExamples.ts";
import { defineOperation } from "../../operation.ts";

export const redeliverEvents = defineOperation({
  operationId: "redeliverEvents",
  method: "POST",
  path: "/api/v1/webhook-endpoints/{id}/redeliver",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Deliver events again",
  description: `One event, or all from one sequence to another, at most 10,000 in one call. It reaches back before the creation of the endpoint.

While 10,000 of them wait at the endpoint, and after 100,000 in a day, a call is answered \`rate_limited\`: read further ones from the feed.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
  acceptsIdempotencyKey: true,
  perMinute: 30,
  body: redeliverBody,
  bodyExamples: { "One event": { eventId: EXAMPLE_EVENT_ID }, "A range": { fromSequence: 40, toSequence: 42 } },
  success: {
    status: 202,
    description: "The number of events that are delivered again.",
    schema: redelivered,
    example: { count: 3 },
  },
  faults: ["webhook_endpoint_disabled"],
  async handle(world, { account, id, body, idempotentRequest }) {
    const key = { accountId: account.id, endpointId: id };
    await getEndpoint(world, key);
    const selection = readSelection(body);
    return runOnce(world, idempotentRequest, {
      run: async (tx) => ({ status: 202, body: await addRedelivery(tx, world, { key, selection }) }) as const,
    });
  },
});

type Selection = {
  eventId?: string | null | undefined;
  fromSequence?: number | null | undefined;
  toSequence?: number | null | undefined;
};

function readSelection({ eventId, fromSequence: from, toSequence: to }: Selection) {
  const isRange = typeof from === "number" && typeof to === "number";
  if (typeof eventId === "string" && typeof from !== "number" && typeof to !== "number") return { eventId };
  if (typeof eventId !== "string" && isRange) return { fromSequence: BigInt(from), toSequence: BigInt(to) };
  const message = "Give either eventId, or fromSequence and toSequence.";
  throw new Fault("invalid_request", { param: "eventId", message });
}
