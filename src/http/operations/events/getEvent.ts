import { findEvent } from "../../../event/listEvents.ts";
import { Fault } from "../../../kernel/faults.ts";
import { CREATE_INTENTS, READ_EVENTS } from "../../../merchant/keys/scopes.ts";
import { defineOperation } from "../../operation.ts";
import { eventExample } from "../../schema/eventExamples.ts";
import { event } from "../../schema/records/event.ts";

export const getEvent = defineOperation({
  operationId: "getEvent",
  method: "GET",
  path: "/api/v1/events/{id}",
  idOf: "event",
  group: "Events",
  summary: "Get an event",
  description: "One event of the feed, in the same bytes permanently.",
  isExtension: true,
  scopes: [CREATE_INTENTS, READ_EVENTS],
  perMinute: 120,
  success: { status: 200, description: "The event.", schema: event, example: eventExample },
  faults: [],
  async handle(world, { account, id }) {
    const found = await findEvent(world.db, { accountId: account.id, eventId: id });
    if (found === undefined) throw new Fault("not_found", { message: "No such event." });
    return { status: 200, body: found };
  },
});
