import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { buildOpenApiDocument } from "../../src/http/documents/openApi/openApiDocument.ts";

// Compares every request and response of a test with the OpenAPI document. An undocumented one fails its test.

type Json = ReturnType<JSON["parse"]>;
/** The documented parts of a request. */
type ExchangeRequest = { method?: string; body?: unknown };
type ExchangeResponse = { status: number; headers: Record<string, unknown>; body: Json; text: string };

/** The base URL of the test API. */
const BASE_URL = "http://127.0.0.1:8787";

export const DOCUMENT: Json = JSON.parse(JSON.stringify(buildOpenApiDocument(BASE_URL)));

/** Headers of the API; the document leaves out those of HTTP. */
const API_HEADERS =
  /^(?:request-id|service-version|ratelimit-.*|retry-after|www-authenticate|idempotent-.*|tributary-.*)$/;

type DocumentedOperation = { operationId: string; pointer: string; pattern: RegExp; method: string; operation: Json };

const operations: readonly DocumentedOperation[] = Object.entries<Json>(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({
    operationId: operation.operationId,
    pointer: `#/paths/${escapePointer(path)}/${method}`,
    pattern: new RegExp(`^${path.replace("{id}", "[^/]+")}$`),
    method: method.toUpperCase(),
    operation,
  })),
);

const validator = new Ajv2020({ strict: false, allErrors: true });
validator.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
validator.addFormat("uri", (text) => URL.canParse(text));
validator.addSchema({ ...forbidExtraProperties(DOCUMENT), $id: "document" });
const compiled = new Map<string, ValidateFunction>();

/**
 * Checks one exchange. Paths outside the API are not documented. Unknown API paths must answer with the error envelope.
 */
export function assertDocumented(url: string, sent: ExchangeRequest, answered: ExchangeResponse): void {
  const [path = "", search = ""] = url.split("?", 2);
  if (!path.startsWith("/api/")) return;
  const method = sent.method ?? "GET";
  const place = operations.find((one) => one.method === method && one.pattern.test(path));
  if (method === "HEAD") return;
  if (place === undefined) {
    const common = `#/components/responses/Error${answered.status}/content/${escapePointer("application/json")}/schema`;
    return assertShape(common, answered.body, `${method} ${url}`);
  }
  const { operationId, pointer, operation } = place;
  const status = String(answered.status);
  const response = resolveRef(operation.responses[status]);
  assert.ok(response, `${operationId} answered with the undocumented status ${status}: ${answered.text}`);
  const label = `${operationId} ${status}: ${answered.text.slice(0, 2_000)}`;
  const responsePointer = operation.responses[status].$ref ?? `${pointer}/responses/${status}`;
  if (response.content["text/event-stream"] !== undefined) assertStream(answered.text, label);
  else assertShape(`${responsePointer}/content/${escapePointer("application/json")}/schema`, answered.body, label);
  assertHeaders(response.headers, answered, `${operationId} ${status}`);
  if (answered.status < 300) assertRequest(place, { sent, search });
}

/** Each event of a stream is one of the feed. */
function assertStream(text: string, label: string): void {
  for (const [, data = ""] of text.matchAll(/^data: (.*)$/gm))
    assertShape("#/components/schemas/Event", JSON.parse(data), label);
}

/** Asserts that a value has the shape at a pointer into the document, and no undocumented field. */
export function assertShape(pointer: string, value: unknown, label: string): void {
  let validate = compiled.get(pointer);
  if (validate === undefined) {
    validate = validator.compile({ $ref: `document${pointer}` });
    compiled.set(pointer, validate);
  }
  if (validate(value)) return;
  const errors = validate.errors?.map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(" "),
  );
  assert.fail(`${label}\nis not as documented: ${errors?.join("; ")}`);
}

/** An accepted request must match the document as well. */
function assertRequest(
  { operationId, pointer, operation }: DocumentedOperation,
  { sent, search }: { sent: ExchangeRequest; search: string },
): void {
  const label = `${operationId}, accepted request ${JSON.stringify(sent.body)} ${search}`;
  const parameters: Json[] = operation.parameters.map((parameter: Json, index: number) => ({
    ...resolveRef(parameter),
    pointer: parameter.$ref ?? `${pointer}/parameters/${index}`,
  }));
  for (const [name, text] of new URLSearchParams(search)) {
    const parameter = parameters.find((one) => one.in === "query" && one.name === name);
    if (parameter === undefined) continue;
    assertShape(`${parameter.pointer}/schema`, parameter.schema.type === "integer" ? Number(text) : text, label);
  }
  if (sent.body === undefined || sent.body === "" || operation.requestBody === undefined) return;
  const body: unknown = typeof sent.body === "string" ? JSON.parse(sent.body) : sent.body;
  if (body instanceof Uint8Array) return;
  // JSON drops undefined fields, as the wire does.
  const wire: unknown = JSON.parse(JSON.stringify(body));
  assertShape(`${pointer}/requestBody/content/${escapePointer("application/json")}/schema`, wire, label);
}

function assertHeaders(described: Json, { headers }: ExchangeResponse, label: string): void {
  const names = new Map<string, Json>(
    Object.entries<Json>(described).map(([name, header]) => [name.toLowerCase(), resolveRef(header)]),
  );
  for (const [name, { required }] of names) {
    assert.ok(required !== true || headers[name] !== undefined, `${label} lacks the header ${name}`);
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!API_HEADERS.test(name)) continue;
    const header = names.get(name);
    assert.ok(header, `${label} has the undocumented header ${name}`);
    const { type, pattern } = header.schema;
    if (type === "integer") assert.match(String(value), /^\d+$/, name);
    if (pattern !== undefined) assert.match(String(value), new RegExp(pattern), name);
  }
}

function resolveRef(part: Json): Json {
  if (part?.$ref === undefined) return part;
  const names: string[] = part.$ref.slice(2).split("/");
  return names.reduce<Json>((inner, name) => inner[name], DOCUMENT);
}

function escapePointer(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Later versions may add fields, but the tests must find a field without documentation. */
function forbidExtraProperties(part: Json): Json {
  if (Array.isArray(part)) return part.map(forbidExtraProperties);
  if (typeof part !== "object" || part === null) return part;
  const inner = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, forbidExtraProperties(value)]));
  const isOpen = part.type === "object" && part.properties !== undefined && part.additionalProperties === undefined;
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}
