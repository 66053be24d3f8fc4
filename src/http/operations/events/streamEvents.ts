import { Fault } from "../../../kernel/faults.ts";
import { CREATE_INTENTS, READ_EVENTS } from "../../../merchant/keys/scopes.ts";
import { defineOperation } from "../../operation.ts";
import { event } from "../../schema/records/event.ts";
import { eventExample } from "../../schema/eventExamples.ts";
import { feedQuery, parseTypes } from "../../schema/requests/feed.ts";

export const streamEvents = defineOperation({
  operationId: "streamEvents",
  method: "GET",
  path: "/api/v1/events/stream",
  group: "Events",
  summary: "Follow the feed of events",
  description: `The same feed as server-sent events: first what follows \`after\`, then each new event within about a tenth of a second. \`id\` is the
sequence, \`event\` the type and \`data\` the event in one line. After a break, send the last \`id\` as \`Last-Event-ID\` or \`after\`; the header counts.
A comment comes every 15 seconds. An account has at most 10 streams in each process of the service. A client that reads nothing for 30 seconds is disconnected.`,
  isExtension: true,
  scopes: [CREATE_INTENTS, READ_EVENTS],
  perMinute: 120,
  isStream: true,
  query: feedQuery,
  success: { status: 200, description: "The stream.", schema: event, example: eventExample },
  faults: ["events_expired"],
  async handle(_world, { account, lastEventId, query: { after, type, intentId } }) {
    const feed = { accountId: account.id, types: parseTypes(type), intentId };
    return { status: 200, stream: { feed, after: parseLastEventId(lastEventId) ?? BigInt(after) } };
  },
});

/** Undefined where a client has none yet: some send an empty one. */
function parseLastEventId(text: string | undefined): bigint | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,16}$/.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER) return BigInt(text);
  throw new Fault("invalid_request", { param: "Last-Event-ID", message: "Last-Event-ID must be the id of an event." });
}
