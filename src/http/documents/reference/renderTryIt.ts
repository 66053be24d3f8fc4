import { API_VERSIONS } from "../../checks/checkVersion.ts";
import type { OperationSpec } from "../../operation.ts";
import { escapeHtml } from "../escapeHtml.ts";

/** A form that sends the call to this service. It is hidden until the page's script can send it. */
export function renderTryIt(operation: OperationSpec): string {
  const { operationId, method, path, body, query = {}, acceptsIdempotencyKey = false, bodyExamples = {} } = operation;
  // The page's script shows whole answers, and a stream has no end.
  if (operation.isStream === true) return "";
  const [example = {}] = Object.values(bodyExamples);
  const fields = [
    renderInput("apiKey", "API key", 'type="password" autocomplete="off" required placeholder="trib_…"'),
    ...(path.includes("{id}") ? [renderInput("path:id", "id", 'required placeholder="pi_…"')] : []),
    ...Object.entries(query).map(([name, { default: fallback }]) =>
      renderInput(`query:${name}`, name, fallback === undefined ? "" : `placeholder="${escapeHtml(String(fallback))}"`),
    ),
    ...(acceptsIdempotencyKey ? [renderInput("header:idempotency-key", "Idempotency-Key", "")] : []),
    ...(body === undefined ? [] : [renderBodyField(example)]),
  ];
  return `<details class="try" hidden><summary>Try it with this service</summary>
<form class="try" data-method="${method}" data-path="${escapeHtml(path)}" data-version="${API_VERSIONS.at(-1)}" aria-label="Try ${operationId}">
<p class="kind">The key stays in this page until you leave it. Use one of a test account; a live key makes a real call.</p>
${fields.join("\n")}
<button>Send</button>
<output></output>
</form></details>`;
}

function renderInput(name: string, label: string, attributes: string): string {
  return `<label>${escapeHtml(label)}<input name="${escapeHtml(name)}" spellcheck="false" autocapitalize="off" ${attributes}></label>`;
}

function renderBodyField(example: object): string {
  const text = JSON.stringify(example, undefined, 2);
  return `<label>Body<textarea name="body" spellcheck="false" autocapitalize="off" rows="${text.split("\n").length}">${escapeHtml(text)}</textarea></label>`;
}
