import { faultRows } from "../../../kernel/faults.ts";
import { BODY_BYTES_MAX } from "../../checks/readBody.ts";
import { scopesOf } from "../../checks/checkScope.ts";
import type { OperationSpec } from "../../operation.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import { referenceComponents } from "../../schema/components.ts";
import { escapeHtml } from "../escapeHtml.ts";
import { renderCode, renderLine, renderMarkdown } from "../markdown.ts";
import { groupFaultsByStatus } from "../openApi/errorResponses.ts";
import { describeRateLimits, formatStreamExample } from "../openApi/operationObject.ts";
import { formatCallExamples } from "./callExamples.ts";
import { renderField, renderFields } from "./renderFields.ts";
import { renderTryIt } from "./renderTryIt.ts";

const BYTES_PER_KIB = 1_024;

/** Renders one operation as a section. */
export function renderOperation(operation: OperationSpec, baseUrl: string): string {
  const { operationId, method, path, summary, description, success, isExtension = false } = operation;
  const extensionBadge = isExtension ? '<span class="mark">extension</span>' : "";
  return `<section id="${operationId}" class="operation">
<div>
<h2>${escapeHtml(summary)}</h2>
<p class="route"><span class="verb ${method.toLowerCase()}">${method}</span><code>${escapeHtml(path)}</code>${extensionBadge}</p>
${renderMarkdown(description)}
<p class="facts">${escapeHtml(describeLimits(operation))}</p>
${renderParameters(operation)}
${renderBody(operation)}
<h3>Errors</h3>
${renderErrors(operation)}
</div>
<div>
<h3>Request</h3>
${renderSamples(operation, baseUrl)}
${renderTryIt(operation)}
<h3>Answer ${success.status}</h3>
<p>${renderLine(success.description)} ${linkToSchema(success.schema)}</p>
<div class="answer">${renderAnswer(operation)}</div>
</div>
</section>`;
}

function renderAnswer({ success: { example }, isStream = false }: OperationSpec): string {
  return isStream
    ? renderCode(formatStreamExample(example), "text")
    : renderCode(JSON.stringify(example, undefined, 2), "json");
}

/** What a call needs and how much it may be, in one paragraph. */
function describeLimits(operation: OperationSpec): string {
  const scope = `The key needs the scope ${scopesOf(operation).join(" or ")}.`;
  const body = operation.body === undefined ? "" : ` A body has at most ${BODY_BYTES_MAX / BYTES_PER_KIB} KiB.`;
  return `${describeRateLimits(operation)} ${scope}${body}`;
}

/** The call in every language, one of which is shown. The choice works without a script. */
function renderSamples(operation: OperationSpec, baseUrl: string): string {
  const samples = formatCallExamples(operation, baseUrl);
  const choices = samples.map(
    ({ language, title }, index) =>
      `<label><input type="radio" name="${operation.operationId}-language" value="${language}"${index === 0 ? " checked" : ""}>${title}</label>`,
  );
  const blocks = samples.map(({ language, code }) =>
    renderCode(code, language).replace("<pre ", `<pre data-language="${language}" `),
  );
  return `<div class="samples"><div role="radiogroup" aria-label="Language">${choices.join("")}</div>\n${blocks.join("\n")}</div>`;
}

const ID_NAMES = { intent: "the `intentId`", event: "the `id`", "webhook endpoint": "the `webhookEndpointId`" };

function renderParameters({
  operationId,
  path,
  idOf,
  query = {},
  acceptsIdempotencyKey = false,
}: OperationSpec): string {
  const fields: [string, JsonSchema, boolean][] = [
    ...(path.includes("{id}")
      ? [
          ["id", { type: "string", description: `In the path: ${ID_NAMES[idOf ?? "intent"]}.` }, true] as [
            string,
            JsonSchema,
            boolean,
          ],
        ]
      : []),
    ...Object.entries(query).map(([name, schema]): [string, JsonSchema, boolean] => [name, schema, false]),
    ...(acceptsIdempotencyKey ? [IDEMPOTENCY_KEY_FIELD] : []),
  ];
  if (fields.length === 0) return "";
  const items = fields.map(([name, field, isRequired]) =>
    renderField({ name, field, isRequired }, { isRequest: true, anchor: operationId }),
  );
  return `<h3>Parameters</h3>\n<ul class="fields">\n${items.join("\n")}\n</ul>`;
}

const IDEMPOTENCY_KEY_FIELD: [string, JsonSchema, boolean] = [
  "Idempotency-Key",
  {
    type: "string",
    minLength: 1,
    maxLength: 255,
    description:
      "A header. Within 24 hours, a repeat with the same key and body returns the first response. See [retries](/docs/integrate/errors-and-retries).",
  },
  false,
];

function renderBody({ operationId, body }: OperationSpec): string {
  if (body === undefined) return "";
  return `<h3>Body</h3>\n${renderFields(body, { isRequest: true, anchor: operationId })}`;
}

function linkToSchema(schema: JsonSchema): string {
  const name = referenceComponents(schema).$ref?.split("/").at(-1);
  return name === undefined ? "" : `See <a href="#${name}">${name}</a>.`;
}

function renderErrors(operation: OperationSpec): string {
  const rows = [...groupFaultsByStatus(operation)].map(([status, codes]) => {
    const links = codes.map((code) => {
      const title = escapeHtml(faultRows[code].message);
      return `<a href="/docs/errors/${code}" title="${title}"><code>${code}</code></a>`;
    });
    return `<tr><td>${status}</td><td>${links.join(" ")}</td></tr>`;
  });
  return `<table class="codes">\n${rows.join("\n")}\n</table>`;
}
