import { readFileSync } from "node:fs";
import { faultRows, type FaultCode, type FaultRow } from "../../kernel/faults.ts";
import { escapeHtml } from "./escapeHtml.ts";
import { renderMarkdown } from "./markdown.ts";
import { buildErrorExample } from "./openApi/errorResponses.ts";
import { renderPage, type DocsPage } from "./docsPage.ts";

const ERROR_DOCS_DIRECTORY = new URL("../../../docs/errors/", import.meta.url);

/** Renders the page of every code, by the path in an error's `docs`. Throws when a code has no page. */
export function renderErrorPages(baseUrl: string): [path: string, page: DocsPage][] {
  return listFaultRows().map(([code, row]) => {
    const written = readFileSync(new URL(`${code}.md`, ERROR_DOCS_DIRECTORY), "utf8");
    const markdown = `${written.trimEnd()}\n\n${responseSection(code, baseUrl)}`;
    return [`/docs/errors/${code}`, { html: renderErrorHtml(code, row, markdown), markdown }];
  });
}

/** An example response, built by the code that builds real ones. */
function responseSection(code: FaultCode, baseUrl: string): string {
  return `## Response\n\n\`\`\`json\n${JSON.stringify(buildErrorExample(code, baseUrl), undefined, 2)}\n\`\`\`\n`;
}

function listFaultRows(): [FaultCode, FaultRow][] {
  return Object.entries(faultRows) as [FaultCode, FaultRow][];
}

function renderErrorHtml(code: FaultCode, row: FaultRow, markdown: string): string {
  const [title = "", ...sections] = renderMarkdown(markdown).split("\n");
  const retry = row.retryable ? "the same request may succeed later" : "the same request will fail again";
  const summaryLine = `<p class="facts">HTTP ${row.status} · ${retry}</p>`;
  return renderPage(
    code,
    `<nav><a href="/docs">Reference</a> · <a href="/docs/errors">All errors</a> · <a href="/docs/index">Index</a></nav>\n${title}\n${summaryLine}\n${sections.join("\n")}`,
  );
}

/** Renders a list of all codes with links to their pages. */
export function renderErrorList(): string {
  const lines = listFaultRows()
    .toSorted(([one, first], [other, second]) => first.status - second.status || one.localeCompare(other))
    .map(
      ([code, { status, message }]) =>
        `<tr><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a><br>${escapeHtml(message)}</td></tr>`,
    );
  const head = "<tr><th>HTTP</th><th>Code</th></tr>";
  const nav = '<nav><a href="/docs">Reference</a> · <a href="/docs/index">Index</a></nav>';
  return renderPage("Errors", `${nav}\n<h1>Errors</h1>\n<table>\n${head}\n${lines.join("\n")}\n</table>`);
}
