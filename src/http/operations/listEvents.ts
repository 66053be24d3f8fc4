import { eventTypeNumbers } from "../../event/event.ts";
import { readFeed } from "../../event/listEvents.ts";
import { Fault } from "../../kernel/faults.ts";
import { CREATE_INTENTS, READ_EVENTS } from "../../merchant/keys/scopes.ts";
import { defineOperation } from "../operation.ts";
import { eventList } from "../schema/records/event.ts";
import { eventExample } from "../schema/eventExamples.ts";
import { pageQuery } from "../schema/records/list.ts";

export const listEvents = defineOperation({
  operationId: "listEvents",
  method: "GET",
  path: "/api/v1/events",
  group: "Events",
  summary: "Read the feed of events",
  description: `All events of the account in order and without gaps. Store \`next_cursor\` and pass it as \`after\` in the next call.
A filtered page reads at most 10,000 events, so it may be empty with \`has_more\`.`,
  isExtension: true,
  scopes: [CREATE_INTENTS, READ_EVENTS],
  perMinute: 120,
  query: {
    after: {
      type: "integer",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: "The sequence of the last event that you have; 0 begins with the first.",
    },
    limit: pageQuery.limit,
    type: {
      type: "string",
      minLength: 1,
      maxLength: 500,
      description: "Types, separated by commas; `deposit.*` means all below `deposit`.",
    },
    intentId: { type: "string", minLength: 1, maxLength: 100, description: "Only events of this intent." },
  },
  success: {
    status: 200,
    description: "A page of events.",
    schema: eventList,
    example: { object: "list", data: [eventExample], has_more: false, next_cursor: "42" },
  },
  faults: ["events_expired"],
  async handle(world, { account, query: { after, limit, type, intentId } }) {
    const types = type === undefined ? undefined : type.split(",").flatMap(parseType);
    const page = await readFeed(world.db, { accountId: account.id, after: BigInt(after), limit, types, intentId });
    const { events: data, hasMore, nextAfter } = page;
    return { status: 200, body: { object: "list", data, has_more: hasMore, next_cursor: nextAfter.toString() } };
  },
});

function parseType(filter: string): number[] {
  const numbers = eventTypeNumbers(filter);
  if (numbers.length > 0) return numbers;
  throw new Fault("invalid_request", { param: "type", message: `No event has the type ${filter}.` });
}
