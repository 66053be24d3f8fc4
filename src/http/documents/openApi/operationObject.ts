import { CREATE_INTENTS } from "../../../merchant/scopes.ts";
import type { OperationFacts, OperationGroup } from "../../operation.ts";
import { byReference } from "../../schema/components.ts";
import type { Json } from "./json.ts";
import { errorAnswerOf, faultsOf } from "./errors.ts";
import { headersByReference, type HeaderName } from "./headers.ts";
import { parametersOf } from "./parameters.ts";

/** The parts of the reference, in its order. */
export const GROUPS: Readonly<Record<OperationGroup, string>> = {
  Intents: "What shall be paid, and to whom.",
  "Paying in": "Where a payer may send money from, and to which address.",
  "What happened": "Deposits and settlements of an intent.",
};

export function operationObject(operation: OperationFacts, baseUrl: string): Json {
  const { operationId, group, summary, isExtension = false, success } = operation;
  const errors = [...faultsOf(operation)].map(([status, codes]): [string, Json] => [
    String(status),
    errorAnswerOf(status, codes, baseUrl),
  ]);
  return {
    operationId,
    tags: [group],
    summary,
    description: `${operation.description}\n\n${limitsInWords(operation)}`,
    ...(isExtension ? { "x-extension": true } : {}),
    "x-repeatable": operation.method === "GET" || operation.isRepeatable === true,
    "x-rate-limit": limitsOf(operation),
    security: [{ apiKey: [CREATE_INTENTS] }],
    parameters: parametersOf(operation),
    ...requestBodyOf(operation),
    responses: { [success.status]: successAnswer(operation), ...Object.fromEntries(errors) },
  };
}

function limitsOf({ perMinute, perMinuteAndIntent }: OperationFacts): Json {
  return { perMinute, ...(perMinuteAndIntent === undefined ? {} : { perMinuteAndIntent }) };
}

export function limitsInWords({ perMinute, perMinuteAndIntent }: OperationFacts): string {
  const ofIntent = perMinuteAndIntent === undefined ? "" : `, and ${perMinuteAndIntent} for one intent`;
  return `At most ${perMinute} calls in any 60 seconds${ofIntent}. All keys of an account share the limit.`;
}

function requestBodyOf({ operationId, body, bodyExamples = {} }: OperationFacts): Json {
  if (body === undefined) return {};
  const examples = Object.entries(bodyExamples).map(([summary, value], index): [string, Json] => [
    `${operationId}${index + 1}`,
    { summary, value },
  ]);
  // An empty body is an empty object, so it is only required where that would be refused.
  const isRequired = body.oneOf !== undefined || (body.required ?? []).length > 0;
  const content = {
    schema: { $ref: `#/components/schemas/${bodyName(operationId)}` },
    examples: Object.fromEntries(examples),
  };
  return { requestBody: { required: isRequired, content: { "application/json": content } } };
}

/** The bodies that operations take, by the names that they have in the document. */
export function requestSchemas(operations: readonly OperationFacts[]): Json {
  const taken = operations.flatMap(({ operationId, body }) => (body === undefined ? [] : [{ operationId, body }]));
  return Object.fromEntries(taken.map(({ operationId, body }) => [bodyName(operationId), byReference(body)]));
}

function bodyName(operationId: string): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`;
}

function successAnswer({ success, isIdempotent = false }: OperationFacts): Json {
  const names: HeaderName[] = [
    "Request-Id",
    "Service-Version",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    ...(isIdempotent ? (["Idempotent-Replayed"] as const) : []),
  ];
  return {
    description: success.description,
    headers: headersByReference(names),
    content: { "application/json": { schema: byReference(success.schema), example: success.example } },
  };
}
