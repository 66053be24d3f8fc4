import { API_VERSIONS } from "../../checks/version.ts";
import type { OperationFacts } from "../../operation.ts";
import { EXAMPLE_INTENT_ID } from "../../schema/examples.ts";

/** The call as a shell makes it. */
export function curlOf(
  { method, path, body, isIdempotent = false, bodyExamples = {} }: OperationFacts,
  baseUrl: string,
): string {
  const [example] = Object.values(bodyExamples);
  const lines = [
    `curl ${method === "POST" ? "-X POST " : ""}${baseUrl}${path.replace("{id}", EXAMPLE_INTENT_ID)}`,
    `-H "Authorization: Bearer $TRIBUTARY_API_KEY"`,
    `-H "Service-Version: ${API_VERSIONS.at(-1)}"`,
  ];
  if (isIdempotent) lines.push(`-H "Idempotency-Key: order-4711"`);
  if (body !== undefined) lines.push(`-H "Content-Type: application/json"`, `-d '${JSON.stringify(example ?? {})}'`);
  return lines.join(" \\\n  ");
}

/** The same with our client. */
export function scriptOf({ operationId, path, body, isIdempotent = false, bodyExamples = {} }: OperationFacts): string {
  const [example] = Object.values(bodyExamples);
  const given = [
    ...(path.includes("{id}") ? [`"${EXAMPLE_INTENT_ID}"`] : []),
    ...(body === undefined || isEmpty(example) ? [] : [literalOf(example)]),
    ...(isIdempotent && !isEmpty(example) ? [`{ idempotencyKey: "order-4711" }`] : []),
  ];
  return `await tributary.${operationId}(${given.join(", ")});`;
}

function isEmpty(example: object | undefined): boolean {
  return example === undefined || Object.keys(example).length === 0;
}

/** As people write it: without quotes around names that need none. */
function literalOf(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/^(\s*)"([A-Za-z]\w*)":/gm, "$1$2:");
}
