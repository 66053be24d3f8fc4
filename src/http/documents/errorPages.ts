import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { Fault, faultRows, type FaultCode, type FaultRow } from "../../kernel/faults.ts";
import { escapeHtml, renderMarkdown } from "./markdown.ts";
import { PAGE_HEADERS, renderPage } from "./page.ts";

const FOLDER = new URL("../../../docs/errors/", import.meta.url);

/** `/docs/errors/<code>`, where every error's `docs` points to, and the list of all of them. Throws when a code has no page. */
export function addErrorPages(server: FastifyInstance): void {
  const rows = Object.entries(faultRows) as [FaultCode, FaultRow][];
  const pages = new Map<string, string>(rows.map(([code, row]) => [code, errorPage(code, row)]));
  const list = listPage(rows);
  server.get("/docs/errors", (_request, reply) => reply.headers(PAGE_HEADERS).send(list));
  server.get<{ Params: { code: string } }>("/docs/errors/:code", (request, reply) => {
    const page = pages.get(request.params.code);
    if (page === undefined) throw new Fault("not_found", { message: "No error has this code." });
    return reply.headers(PAGE_HEADERS).send(page);
  });
}

function errorPage(code: FaultCode, row: FaultRow): string {
  const [title = "", ...sections] = renderMarkdown(readFileSync(new URL(`${code}.md`, FOLDER), "utf8")).split("\n");
  const retry = row.retryable ? "the same request may succeed later" : "the same request will fail again";
  const facts = `<p class="facts">HTTP ${row.status} · ${retry}</p>`;
  return renderPage(
    code,
    `<nav><a href="/docs/errors">All errors</a></nav>\n${title}\n${facts}\n${sections.join("\n")}`,
  );
}

function listPage(rows: readonly [FaultCode, FaultRow][]): string {
  const lines = rows
    .toSorted(([one, first], [other, second]) => first.status - second.status || one.localeCompare(other))
    .map(
      ([code, { status, message }]) =>
        `<tr><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${escapeHtml(message)}</td></tr>`,
    );
  const head = "<tr><th>HTTP</th><th>Code</th><th>Meaning</th></tr>";
  return renderPage("Errors", `<h1>Errors</h1>\n<table>\n${head}\n${lines.join("\n")}\n</table>`);
}
