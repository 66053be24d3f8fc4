import { MANAGE_WEBHOOKS } from "../../merchant/keys/scopes.ts";
import { Fault } from "../../kernel/faults.ts";
import { redeliver } from "../../webhook/redeliver.ts";
import { redeliverBody, redelivered } from "../schema/requests/webhookEndpoint.ts";
import { EXAMPLE_EVENT_ID } from "../schema/eventExamples.ts";
import { defineOperation } from "../operation.ts";

export const redeliverEvents = defineOperation({
  operationId: "redeliverEvents",
  method: "POST",
  path: "/api/v1/webhook-endpoints/{id}/redeliver",
  idOf: "webhook endpoint",
  group: "Webhooks",
  summary: "Deliver events again",
  description: `One event, or all from one sequence to another, at most 10,000 in one call. It reaches back before the creation of the endpoint.`,
  isExtension: true,
  scopes: [MANAGE_WEBHOOKS],
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
  async handle(world, { account, id, body }) {
    const key = { accountId: account.id, endpointId: id };
    return { status: 202, body: await redeliver(world, key, readSelection(body)) };
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
