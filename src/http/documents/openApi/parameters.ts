import { API_VERSIONS } from "../../checks/checkVersion.ts";
import type { OperationSpec } from "../../operation.ts";
import { referenceComponents } from "../../schema/components.ts";
import { EXAMPLE_INTENT_ID } from "../../schema/examples.ts";
import { EXAMPLE_ENDPOINT_ID, EXAMPLE_EVENT_ID } from "../../schema/eventExamples.ts";
import type { JsonObject } from "./jsonObject.ts";

export const PARAMETERS = {
  ServiceVersion: {
    name: "Service-Version",
    in: "header",
    required: true,
    description:
      "The date of your integration. The newest version that is not after it answers, so that later versions do not change your integration.",
    schema: { type: "string", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" },
    example: API_VERSIONS.at(-1),
  },
  IntentId: {
    name: "id",
    in: "path",
    required: true,
    description: "The `intentId`. An id that is not an intent of the account gets `not_found`.",
    schema: { type: "string", minLength: 1 },
    example: EXAMPLE_INTENT_ID,
  },
  EventId: {
    name: "id",
    in: "path",
    required: true,
    description: "The `id` of the event. An id that is no event of the account gets `not_found`.",
    schema: { type: "string", minLength: 1 },
    example: EXAMPLE_EVENT_ID,
  },
  WebhookEndpointId: {
    name: "id",
    in: "path",
    required: true,
    description: "The `webhookEndpointId`. An id that is no endpoint of the account gets `not_found`.",
    schema: { type: "string", minLength: 1 },
    example: EXAMPLE_ENDPOINT_ID,
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    description: "The last `id` of an earlier stream, which continues behind it.",
    schema: { type: "string", pattern: "^[0-9]{0,16}$" },
    example: "42",
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A text of your choice, unique for each new operation. For 24 hours, a repeat with the same key and body returns the first response and does not run the operation again.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "order-4711",
  },
} as const satisfies Record<string, JsonObject>;

function idParameter(idOf: OperationSpec["idOf"]): keyof typeof PARAMETERS {
  if (idOf === undefined) return "IntentId";
  return idOf === "event" ? "EventId" : "WebhookEndpointId";
}

/** The parameters of an operation, apart from its body and its API key. */
export function listParameters({
  path,
  idOf,
  query = {},
  isStream = false,
  acceptsIdempotencyKey = false,
}: OperationSpec): readonly JsonObject[] {
  const names: (keyof typeof PARAMETERS)[] = [
    ...(path.includes("{id}") ? [idParameter(idOf)] : []),
    "ServiceVersion",
    ...(isStream ? (["LastEventId"] as const) : []),
    ...(acceptsIdempotencyKey ? (["IdempotencyKey"] as const) : []),
  ];
  const queryParameters = Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    description,
    schema: referenceComponents(schema),
  }));
  return [...names.map((name) => ({ $ref: `#/components/parameters/${name}` })), ...queryParameters];
}
