import { readFeed } from "../../../event/listEvents.ts";
import { CREATE_INTENTS, READ_EVENTS } from "../../../merchant/keys/scopes.ts";
import { defineOperation } from "../../operation.ts";
import { readFromReplica } from "../../reads/readFromReplica.ts";
import { eventList } from "../../schema/records/event.ts";
import { eventExample } from "../../schema/eventExamples.ts";
import { pageQuery } from "../../schema/records/list.ts";
import { feedQuery, parseTypes } from "../../schema/requests/feed.ts";

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
  mayReadReplica: true,
  query: { after: feedQuery.after, limit: pageQuery.limit, type: feedQuery.type, intentId: feedQuery.intentId },
  success: {
    status: 200,
    description: "A page of events.",
    schema: eventList,
    example: { object: "list", data: [eventExample], has_more: false, next_cursor: "42" },
  },
  faults: ["events_expired"],
  async handle(world, { account, query: { after, limit, type, intentId } }) {
    const types = parseTypes(type);
    const { result: page, asOf } = await readFromReplica(world, ({ db }) =>
      readFeed(db, { accountId: account.id, after: BigInt(after), limit, types, intentId }),
    );
    const { events: data, hasMore, nextAfter } = page;
    return { status: 200, asOf, body: { object: "list", data, has_more: hasMore, next_cursor: nextAfter.toString() } };
  },
});
