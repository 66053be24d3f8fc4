import { API_VERSIONS } from "../../checks/checkVersion.ts";
import type { OperationSpec } from "../../operation.ts";
import { EXAMPLE_INTENT_ID } from "../../schema/examples.ts";

/** Formats the call as a curl command. */
export function formatCurl(
  { method, path, body, acceptsIdempotencyKey = false, bodyExamples = {} }: OperationSpec,
  baseUrl: string,
): string {
  const [example] = Object.values(bodyExamples);
  const lines = [
    `curl ${method === "POST" ? "-X POST " : ""}${baseUrl}${path.replace("{id}", EXAMPLE_INTENT_ID)}`,
    `-H "Authorization: Bearer $TRIBUTARY_API_KEY"`,
    `-H "Service-Version: ${API_VERSIONS.at(-1)}"`,
  ];
  if (acceptsIdempotencyKey) lines.push(`-H "Idempotency-Key: order-4711"`);
  if (body !== undefined) lines.push(`-H "Content-Type: application/json"`, `-d '${JSON.stringify(example ?? {})}'`);
  return lines.join(" \\\n  ");
}

/** Formats the call with our client. */
export function formatClientCall({
  operationId,
  path,
  body,
  acceptsIdempotencyKey = false,
  bodyExamples = {},
}: OperationSpec): string {
  const [example] = Object.values(bodyExamples);
  const args = [
    ...(path.includes("{id}") ? [`"${EXAMPLE_INTENT_ID}"`] : []),
    ...(body === undefined || isEmpty(example) ? [] : [formatLiteral(example)]),
    ...(acceptsIdempotencyKey && !isEmpty(example) ? [`{ idempotencyKey: "order-4711" }`] : []),
  ];
  return `await tributary.${operationId}(${args.join(", ")});`;
}

function isEmpty(example: object | undefined): boolean {
  return example === undefined || Object.keys(example).length === 0;
}

/** Formats a value as a JavaScript literal, without quotes around names that need none. */
function formatLiteral(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/^(\s*)"([A-Za-z]\w*)":/gm, "$1$2:");
}
