import { API_VERSIONS } from "../../checks/checkVersion.ts";
import type { OperationSpec } from "../../operation.ts";
import { referenceComponents } from "../../schema/components.ts";
import { EXAMPLE_INTENT_ID } from "../../schema/examples.ts";
import type { JsonObject } from "./jsonObject.ts";

export const PARAMETERS = {
  ServiceVersion: {
    name: "Service-Version",
    in: "header",
    required: true,
    description:
      "The date of your integration. It is answered by the newest version not after it, so that nothing changes under you.",
    schema: { type: "string", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" },
    example: API_VERSIONS.at(-1),
  },
  IntentId: {
    name: "id",
    in: "path",
    required: true,
    description: "The `intentId`. Any text that names no intent of the account gets `not_found`.",
    schema: { type: "string", minLength: 1 },
    example: EXAMPLE_INTENT_ID,
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A text of your choice, one for each thing that you want done. For 24 hours a repeat with the same key and body gets the first answer again instead of doing it twice.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "order-4711",
  },
} as const satisfies Record<string, JsonObject>;

/** What an operation takes beside its body and the key. */
export function listParameters({
  path,
  query = {},
  acceptsIdempotencyKey = false,
}: OperationSpec): readonly JsonObject[] {
  const names: (keyof typeof PARAMETERS)[] = [
    ...(path.includes("{id}") ? (["IntentId"] as const) : []),
    "ServiceVersion",
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
