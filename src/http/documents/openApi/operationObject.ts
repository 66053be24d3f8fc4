import { scopesOf } from "../../checks/checkScope.ts";
import type { OperationSpec, OperationGroup } from "../../operation.ts";
import { referenceComponents } from "../../schema/components.ts";
import type { JsonObject } from "./jsonObject.ts";
import { referenceErrorResponse, groupFaultsByStatus } from "./errorResponses.ts";
import { referenceHeaders, type HeaderName } from "./responseHeaders.ts";
import { listParameters } from "./parameters.ts";

/** The groups of the reference, in its order. */
export const GROUP_DESCRIPTIONS: Readonly<Record<OperationGroup, string>> = {
  Intents: "Create, read, list and archive payment intents.",
  "Deposit addresses": "The chains and tokens that a payer may use, and the address for each.",
  "Deposits and settlements": "Transfers into an intent's inboxes, and payouts from them.",
  Events: "The feed: every change of the account, in order.",
  Webhooks: "URLs of yours that get the events of the feed, signed by Standard Webhooks.",
  Account: "The account of the API key: what it may do, how its checkout looks, and which pages may embed it.",
};

export function buildOperationObject(operation: OperationSpec, baseUrl: string): JsonObject {
  const { operationId, group, summary, isExtension = false, success } = operation;
  const errors = [...groupFaultsByStatus(operation)].map(([status, codes]): [string, JsonObject] => [
    String(status),
    referenceErrorResponse(status, codes, baseUrl),
  ]);
  return {
    operationId,
    tags: [group],
    summary,
    description: `${operation.description}\n\n${describeRateLimits(operation)}`,
    ...(isExtension ? { "x-extension": true } : {}),
    "x-repeatable": operation.method === "GET" || operation.isRetrySafe === true,
    "x-rate-limit": rateLimitObject(operation),
    security: scopesOf(operation).map((scope) => ({ apiKey: [scope] })),
    parameters: listParameters(operation),
    ...requestBodyObject(operation),
    responses: { [success.status]: successResponse(operation), ...Object.fromEntries(errors) },
  };
}

function rateLimitObject({ perMinute, perMinuteAndIntent }: OperationSpec): JsonObject {
  return { perMinute, ...(perMinuteAndIntent === undefined ? {} : { perMinuteAndIntent }) };
}

export function describeRateLimits({ perMinute, perMinuteAndIntent }: OperationSpec): string {
  const ofIntent = perMinuteAndIntent === undefined ? "" : `, and ${perMinuteAndIntent} for one intent`;
  return `At most ${perMinute} calls in any 60 seconds${ofIntent}. All keys of an account share the limit.`;
}

function requestBodyObject({ operationId, body, bodyExamples = {} }: OperationSpec): JsonObject {
  if (body === undefined) return {};
  const examples = Object.entries(bodyExamples).map(([summary, value], index): [string, JsonObject] => [
    `${operationId}${index + 1}`,
    { summary, value },
  ]);
  // An empty body is an empty object, so a body is only required when an empty object is invalid.
  const isRequired = body.oneOf !== undefined || (body.required ?? []).length > 0;
  const content = {
    schema: { $ref: `#/components/schemas/${bodySchemaName(operationId)}` },
    examples: Object.fromEntries(examples),
  };
  return { requestBody: { required: isRequired, content: { "application/json": content } } };
}

/** The request bodies, by their names in the document. */
export function requestBodySchemas(operations: readonly OperationSpec[]): JsonObject {
  const withBody = operations.flatMap(({ operationId, body }) => (body === undefined ? [] : [{ operationId, body }]));
  return Object.fromEntries(
    withBody.map(({ operationId, body }) => [bodySchemaName(operationId), referenceComponents(body)]),
  );
}

function bodySchemaName(operationId: string): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`;
}

function successResponse({
  success,
  isStream = false,
  acceptsIdempotencyKey = false,
  mayReadReplica = false,
}: OperationSpec): JsonObject {
  const names: HeaderName[] = [
    "Request-Id",
    "Service-Version",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    ...(acceptsIdempotencyKey ? (["Idempotent-Replayed"] as const) : []),
    ...(mayReadReplica ? (["Tributary-As-Of"] as const) : []),
  ];
  return {
    description: success.description,
    headers: referenceHeaders(names),
    content: isStream
      ? { "text/event-stream": { schema: { type: "string" }, example: formatStreamExample(success.example) } }
      : { "application/json": { schema: referenceComponents(success.schema), example: success.example } },
  };
}

/** The start of a stream that shows one event. */
export function formatStreamExample(example: object): string {
  const { sequence, type } = example as { sequence?: unknown; type?: unknown };
  return `retry: 2000\n\nid: ${String(sequence)}\nevent: ${String(type)}\ndata: ${JSON.stringify(example)}\n\n`;
}
