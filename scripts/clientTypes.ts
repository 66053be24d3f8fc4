// Writes the types of @tributary/client from the document that the service serves: npm run generate -w
// @tributary/client

import { writeFileSync } from "node:fs";
import { buildOpenApiDocument } from "../src/http/documents/openApi/openApiDocument.ts";

const FILE = new URL("../packages/client/src/api.generated.ts", import.meta.url);

/** A part of the document without static types. */
type SchemaPart = { readonly [name: string]: unknown };

const DOCUMENT = buildOpenApiDocument("https://pay.example") as Readonly<
  Record<"paths" | "webhooks" | "components" | "info", SchemaPart>
>;
const SCHEMAS = DOCUMENT.components["schemas"] as Readonly<Record<string, SchemaPart>>;

/** The whole source of the generated file. */
export function clientTypes(): string {
  const { paths, info } = DOCUMENT;
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as SchemaPart).map(([method, operation]) => ({
      path,
      method,
      operation: operation as SchemaPart,
    })),
  );
  // A stream is no call with one response: followEvents reads it.
  const operations = described.filter((each) => !JSON.stringify(each.operation).includes("text/event-stream"));
  const schemas = Object.entries(SCHEMAS).filter(([name]) => !name.startsWith("MetadataLevel"));
  return `// Generated from the API's document; do not edit. npm run generate -w @tributary/client

/** The version that a client requests by default. */
export const API_VERSION = ${JSON.stringify(info["version"])};

/** Any JSON, such as a merchant's own metadata. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json | undefined };
export type JsonObject = { [name: string]: Json | undefined };

/** The codes of errors that this release knows. A service may have newer ones. */
export type ErrorCode =${errorCodes(operations)};

${schemas.map(([name, schema]) => `${comment(schema, "")}export type ${name} = ${typeOf(schema, "")};\n`).join("\n")}
/** An event as it is posted to an endpoint: \`type\` tells what \`data.object\` is. A later service may send further types. */
export type WebhookEvent = ${webhookTypes()};

${operations.map(queryType).join("")}/** How operations are called over HTTP. */
export const OPERATIONS = {
${operations.map(operationEntry).join("\n")}
} as const satisfies Record<string, Route>;

export type OperationId = keyof typeof OPERATIONS;

export type Route = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** What the arguments are, in this order, before the options. */
  readonly takes: readonly ("id" | "query" | "body")[];
  /** It may be sent again without an Idempotency-Key. */
  readonly isRepeatable: boolean;
  /** It takes an Idempotency-Key. */
  readonly isKeyed: boolean;
};

/**
 * The operations as methods. \`Options\` may go with any call, \`IdempotentCallOptions\` with those that take an
 * Idempotency-Key.
 */
export type Methods<Options, KeyedOptions> = {
${operations.map(methodEntry).join("\n")}
};
`;
}

/** The schemas of what is posted to endpoints. */
function webhookTypes(): string {
  const names = [...JSON.stringify(DOCUMENT.webhooks).matchAll(/"schema":\{"\$ref":"[^"]*\/(\w+)"/g)].map(
    ([, name]) => name,
  );
  return [...new Set(names)].join(" | ");
}

type DescribedOperation = { path: string; method: string; operation: SchemaPart };

function errorCodes(operations: readonly DescribedOperation[]): string {
  const text = JSON.stringify([operations, DOCUMENT.components]);
  const codes = [...text.matchAll(/"code":\{"type":"string","enum":(\[[^\]]*\])/g)].flatMap(
    ([, list = "[]"]) => JSON.parse(list) as string[],
  );
  return [...new Set(codes)].map((code) => `\n  | ${JSON.stringify(code)}`).join("");
}

function operationInputs({ operation, path }: DescribedOperation): {
  isId: boolean;
  query: SchemaPart[];
  body: string | undefined;
  isBodyNeeded: boolean;
} {
  const all = operation["parameters"] as SchemaPart[];
  const requestBody = operation["requestBody"] as { required: boolean } | undefined;
  const name = `${pascal(operation)}Body`;
  const hasFields = requestBody !== undefined && !JSON.stringify(SCHEMAS[name]).includes('"properties":{}');
  return {
    isId: path.includes("{id}"),
    query: all.filter((parameter) => parameter["in"] === "query"),
    body: hasFields ? name : undefined,
    isBodyNeeded: requestBody?.required === true,
  };
}

function isIdempotent({ operation }: DescribedOperation): boolean {
  return JSON.stringify(operation["parameters"]).includes("/IdempotencyKey");
}

function queryType(described: DescribedOperation): string {
  const { query } = operationInputs(described);
  if (query.length === 0) return "";
  const fields = query.map(({ name, schema, description }) => {
    const docComment = comment({ description }, "  ");
    return `${docComment}  ${String(name)}?: ${typeOf(schema as SchemaPart, "  ")} | undefined;`;
  });
  return `export type ${pascal(described.operation)}Query = {\n${fields.join("\n")}\n};\n\n`;
}

function operationEntry(described: DescribedOperation): string {
  const { isId, query, body } = operationInputs(described);
  const names = [
    ...(isId ? ["id"] : []),
    ...(query.length > 0 ? ["query"] : []),
    ...(body === undefined ? [] : ["body"]),
  ];
  const facts = [
    `method: ${JSON.stringify(described.method.toUpperCase())}`,
    `path: ${JSON.stringify(described.path)}`,
    `takes: ${JSON.stringify(names).replaceAll(",", ", ")}`,
    `isRepeatable: ${String(described.operation["x-repeatable"])}`,
    `isKeyed: ${isIdempotent(described)}`,
  ];
  return `  ${String(described.operation["operationId"])}: { ${facts.join(", ")} },`;
}

function methodEntry(described: DescribedOperation): string {
  const { operation, method, path } = described;
  const { isId, query, body, isBodyNeeded } = operationInputs(described);
  const signature = [
    ...(isId ? ["id: string"] : []),
    ...(query.length > 0 ? [`query?: ${pascal(operation)}Query`] : []),
    ...(body === undefined ? [] : [`body${isBodyNeeded ? "" : "?"}: ${body}`]),
    `options?: ${isIdempotent(described) ? "KeyedOptions" : "Options"}`,
  ];
  const docComment = `  /** ${String(operation["summary"])}. \`${method.toUpperCase()} ${path}\` */\n`;
  return `${docComment}  readonly ${String(operation["operationId"])}: (${signature.join(", ")}) => Promise<${responseType(operation)}>;`;
}

/** The response type of a successful call. */
function responseType(operation: SchemaPart): string {
  const responses = operation["responses"] as Record<
    string,
    { content: { "application/json": { schema: SchemaPart } } }
  >;
  const [status = ""] = Object.keys(responses).filter((one) => one.startsWith("2"));
  return typeOf(responses[status]?.content["application/json"].schema ?? {}, "");
}

function pascal(operation: SchemaPart): string {
  const name = String(operation["operationId"]);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const PRIMITIVE_TYPES: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

/** Converts a schema to a type. Schemas are constants of this repository, so the recursion ends. */
function typeOf(schema: SchemaPart, indent: string): string {
  const { $ref, enum: values, const: value, oneOf, type, items } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "unknown";
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(" | ");
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(oneOf)) return (oneOf as SchemaPart[]).map((branch) => typeOf(branch, indent)).join(" | ");
  const types = [type].flat().map((one) => {
    if (one === "object") return objectType(schema, indent);
    if (one === "array") return listType(items as SchemaPart, indent);
    return PRIMITIVE_TYPES[String(one)] ?? "unknown";
  });
  return [...new Set(types)].join(" | ");
}

function listType(items: SchemaPart, indent: string): string {
  const inner = typeOf(items, indent);
  return /[ |{]/.test(inner) ? `Array<${inner}>` : `${inner}[]`;
}

function objectType(schema: SchemaPart, indent: string): string {
  const { properties, required = [] } = schema as { properties?: Record<string, SchemaPart>; required?: string[] };
  if (properties === undefined) return "JsonObject";
  if (Object.keys(properties).length === 0) return "{}";
  const fields = Object.entries(properties).map(([name, field]) => {
    const docComment = comment(field, `${indent}  `);
    const mark = required.includes(name) ? "" : "?";
    const orNothing = mark === "" ? "" : " | undefined";
    return `${docComment}${indent}  ${name}${mark}: ${typeOf(field, `${indent}  `)}${orNothing};`;
  });
  return `{\n${fields.join("\n")}\n${indent}}`;
}

function comment(schema: SchemaPart, indent: string): string {
  const { description } = schema;
  return typeof description === "string" ? `${indent}/** ${description.replace(/\s+/g, " ")} */\n` : "";
}

if (import.meta.main) writeFileSync(FILE, clientTypes());
