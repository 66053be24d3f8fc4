import { EVENT_TYPES } from "../../../event/event.ts";
import { referenceComponents } from "../../schema/components.ts";
import { eventExample } from "../../schema/eventExamples.ts";
import { TEST_TYPE, TYPED_EVENTS } from "../../schema/records/typedEvents.ts";
import type { JsonObject } from "./jsonObject.ts";

const text = { type: "string" } as const;

/** The headers of Standard Webhooks. */
const HEADERS: readonly JsonObject[] = [
  { name: "webhook-id", description: "The event's id, the same on every try.", schema: text },
  { name: "webhook-timestamp", description: "The time of this try, in Unix seconds.", schema: text },
  {
    name: "webhook-signature",
    description:
      "For each valid secret `v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`, separated by spaces.",
    schema: text,
  },
].map((header) => ({ in: "header", required: true, ...header }));

/** The posts to webhook endpoints, by the types of their events. */
export function buildWebhooks(): JsonObject {
  return Object.fromEntries([...Object.keys(EVENT_TYPES), TEST_TYPE].map((type) => [type, webhookObject(type)]));
}

function webhookObject(type: string): JsonObject {
  const schema = Object.values(TYPED_EVENTS).find(({ properties }) => properties.type.enum.includes(type));
  const example = type === eventExample.type ? { example: eventExample } : {};
  return {
    post: {
      operationId: receiverName(type),
      tags: ["Webhooks"],
      summary: type,
      description:
        "Posted to every endpoint whose `types` include it. Events of one intent come in order, at least once.",
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: schema === undefined ? {} : referenceComponents(schema), ...example },
        },
      },
      responses: {
        "2XX": { description: "The event was received. Any other answer is a failure, and the event comes again." },
        "410": { description: "Disables the endpoint." },
      },
    },
  };
}

/** What generators call the receiver of a type: `onDepositRecorded` for `deposit.recorded`. */
function receiverName(type: string): string {
  const words = type.split(/[._]/u).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `on${words.join("")}`;
}
