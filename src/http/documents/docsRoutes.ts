import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { renderErrorList, renderErrorPages } from "./errorPages.ts";
import { readGuides } from "./guides.ts";
import { renderMarkdown } from "./markdown.ts";
import { INDEX_HEADERS, MARKDOWN_HEADERS, PAGE_HEADERS, renderPage, type DocsPage } from "./docsPage.ts";
import { renderReference } from "./reference/renderReference.ts";
import { buildSearchGroups } from "./search/searchEntries.ts";
import { renderIndex } from "./search/indexPage.ts";

type RenderedDocs = {
  reference: string;
  errors: string;
  index: string;
  /** The search entries, as JSON. */
  searchEntries: string;
  pages: ReadonlyMap<string, DocsPage>;
};

/**
 * Adds `/docs` and the pages below it. A page written in Markdown is also served as Markdown: for `Accept:
 * text/markdown`, and at its address plus `.md`. The first request renders all pages, so that they do not delay the
 * start.
 */
export function addDocsRoutes(server: FastifyInstance, baseUrl: string): void {
  let rendered: RenderedDocs | undefined;
  const docs = () => (rendered ??= renderDocs(baseUrl));
  server.get("/docs", (_request, reply) => reply.headers(PAGE_HEADERS).send(docs().reference));
  server.get("/docs/errors", (_request, reply) => reply.headers(PAGE_HEADERS).send(docs().errors));
  server.get("/docs/index", (_request, reply) => reply.headers(PAGE_HEADERS).send(docs().index));
  server.get("/docs/index.json", (_request, reply) => reply.headers(INDEX_HEADERS).send(docs().searchEntries));
  server.get("/docs/:name", (request, reply) => sendPage(docs().pages, request, reply));
  server.get("/docs/:folder/:name", (request, reply) => sendPage(docs().pages, request, reply));
}

function renderDocs(baseUrl: string): RenderedDocs {
  const guides = readGuides();
  const pages = new Map<string, DocsPage>([
    ...renderErrorPages(baseUrl),
    ...guides.map(({ url, title, markdown }): [string, DocsPage] => [
      url,
      { html: renderGuidePage(title, markdown), markdown },
    ]),
  ]);
  const groups = buildSearchGroups(guides, pages);
  return {
    reference: renderReference(baseUrl, guides),
    errors: renderErrorList(),
    index: renderIndex(groups),
    searchEntries: JSON.stringify(groups.flatMap(({ entries }) => entries)),
    pages,
  };
}

function sendPage(pages: ReadonlyMap<string, DocsPage>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = ""] = request.url.split("?", 1);
  const page = pages.get(path.replace(/\.md$/, ""));
  if (page === undefined) throw new Fault("not_found", { message: "No such page." });
  reply.header("vary", "Accept");
  const isSource = path.endsWith(".md") || prefersMarkdown(request.headers.accept);
  return isSource ? reply.headers(MARKDOWN_HEADERS).send(page.markdown) : reply.headers(PAGE_HEADERS).send(page.html);
}

/** Whether the Accept header names Markdown and not HTML. Browsers never name Markdown. */
function prefersMarkdown(accept = ""): boolean {
  return /\btext\/markdown\b/.test(accept) && !/\btext\/html\b/.test(accept);
}

function renderGuidePage(title: string, markdown: string): string {
  return renderPage(
    title,
    `<nav><a href="/docs">Reference and guides</a> · <a href="/docs/index">Index</a></nav>\n${renderMarkdown(markdown)}`,
  );
}
