import { API_VERSIONS } from "../../checks/checkVersion.ts";
import type { OperationSpec } from "../../operation.ts";
import { EXAMPLE_ENDPOINT_ID, EXAMPLE_EVENT_ID } from "../../schema/eventExamples.ts";
import { EXAMPLE_INTENT_ID } from "../../schema/examples.ts";

// One call in four languages. All of them send the same request.

/** The title of a language and how it is highlighted. */
export type CallExample = { language: string; title: string; code: string };

const IDEMPOTENCY_KEY = "order-4711";
const KEY_VARIABLE = "TRIBUTARY_API_KEY";

export function formatCallExamples(operation: OperationSpec, baseUrl: string): CallExample[] {
  const call = describeCall(operation, baseUrl);
  if (operation.isStream === true)
    return [
      { language: "curl", title: "curl", code: formatCurl(call).replace("curl ", "curl -N ") },
      { language: "typescript", title: "TypeScript", code: FOLLOW_EXAMPLE },
    ];
  return [
    { language: "curl", title: "curl", code: formatCurl(call) },
    { language: "typescript", title: "TypeScript", code: formatClientCall(operation) },
    { language: "python", title: "Python", code: formatPython(call) },
    { language: "php", title: "PHP", code: formatPhp(call) },
  ];
}

const FOLLOW_EXAMPLE = `for await (const event of followEvents({ baseUrl, apiKey }, { after })) {
  await handle(event);
  await store(event.sequence);
}`;

function exampleId(idOf: OperationSpec["idOf"]): string {
  if (idOf === undefined) return EXAMPLE_INTENT_ID;
  return idOf === "event" ? EXAMPLE_EVENT_ID : EXAMPLE_ENDPOINT_ID;
}

type Call = { method: string; url: string; headers: [name: string, value: string][]; body: object | undefined };

function describeCall(
  { method, path, idOf, body, acceptsIdempotencyKey = false, bodyExamples = {} }: OperationSpec,
  baseUrl: string,
): Call {
  const [example = {}] = Object.values(bodyExamples);
  return {
    method,
    url: `${baseUrl}${path.replace("{id}", exampleId(idOf))}`,
    headers: [
      ["Service-Version", API_VERSIONS.at(-1) ?? ""],
      ...(acceptsIdempotencyKey ? [["Idempotency-Key", IDEMPOTENCY_KEY] as [string, string]] : []),
    ],
    body: body === undefined ? undefined : example,
  };
}

function formatCurl({ method, url, headers, body }: Call): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${url}`,
    `-H "Authorization: Bearer $${KEY_VARIABLE}"`,
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
  ];
  if (body !== undefined)
    lines.push(`-H "Content-Type: application/json"`, `-d '${quoteForShell(formatJson(body, "  ", 2))}'`);
  return lines.join(" \\\n  ");
}

/** Formats the call with our client. */
function formatClientCall({
  operationId,
  path,
  idOf,
  body,
  acceptsIdempotencyKey = false,
  bodyExamples = {},
}: OperationSpec): string {
  const [example] = Object.values(bodyExamples);
  const args = [
    ...(path.includes("{id}") ? [`"${exampleId(idOf)}"`] : []),
    ...(body === undefined || isEmpty(example) ? [] : [formatJavaScript(example)]),
    ...(acceptsIdempotencyKey && !isEmpty(example) ? [`{ idempotencyKey: "${IDEMPOTENCY_KEY}" }`] : []),
  ];
  return `await tributary.${operationId}(${args.join(", ")});`;
}

function formatPython({ method, url, headers, body }: Call): string {
  return [
    "import os",
    "import requests",
    "",
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    "    headers={",
    `        "Authorization": "Bearer " + os.environ["${KEY_VARIABLE}"],`,
    ...headers.map(([name, value]) => `        "${name}": "${value}",`),
    "    },",
    ...(body === undefined ? [] : [`    json=${formatPythonValue(body, "    ")},`]),
    "    timeout=30,",
    ")",
    "response.raise_for_status()",
    "print(response.json())",
  ].join("\n");
}

function formatPhp({ method, url, headers, body }: Call): string {
  const fields = [...headers, ...(body === undefined ? [] : [["Content-Type", "application/json"]])];
  return [
    `$request = curl_init("${url}");`,
    "curl_setopt_array($request, [",
    "    CURLOPT_RETURNTRANSFER => true,",
    ...(method === "GET" ? [] : [`    CURLOPT_CUSTOMREQUEST => "${method}",`]),
    "    CURLOPT_HTTPHEADER => [",
    `        "Authorization: Bearer " . getenv("${KEY_VARIABLE}"),`,
    ...fields.map(([name, value]) => `        "${name}: ${value}",`),
    "    ],",
    ...(body === undefined
      ? []
      : [`    CURLOPT_POSTFIELDS => ${isEmpty(body) ? `"{}"` : `json_encode(${formatPhpValue(body, "    ")})`},`]),
    "    CURLOPT_TIMEOUT => 30,",
    "]);",
    "$answer = json_decode(curl_exec($request), true, flags: JSON_THROW_ON_ERROR);",
  ].join("\n");
}

/** Within single quotes a shell knows only their end. */
function quoteForShell(text: string): string {
  return text.replaceAll("'", String.raw`'\''`);
}

function isEmpty(example: object | undefined): boolean {
  return example === undefined || Object.keys(example).length === 0;
}

/** Formats a value as a JavaScript literal, without quotes around names that need none. */
function formatJavaScript(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/^(\s*)"([A-Za-z]\w*)":/gm, "$1$2:");
}

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

/** JSON is Python apart from three words, which stand outside strings. */
function formatPythonValue(value: object, indent: string): string {
  return formatJson(value, indent).replace(
    /"(?:\\.|[^"\\])*"|\b(?:true|false|null)\b/g,
    (match) => PYTHON_WORDS[match] ?? match,
  );
}

/** PHP writes objects as arrays, and a $ in a string of double quotes would be a variable. */
function formatPhpValue(value: object, indent: string): string {
  return formatJson(value, indent).replace(/("(?:\\.|[^"\\])*")(:)?|[{}]/g, (match, text?: string, colon?: string) => {
    if (match === "{") return "[";
    if (match === "}") return "]";
    return `${(text ?? "").replaceAll("$", "\\$")}${colon === undefined ? "" : " =>"}`;
  });
}

function formatJson(value: object, indent: string, spaces = 4): string {
  return isEmpty(value) ? "{}" : JSON.stringify(value, undefined, spaces).replaceAll("\n", `\n${indent}`);
}
