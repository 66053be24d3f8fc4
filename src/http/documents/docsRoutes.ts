import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { prepareDocument, sendFile, type ServedFile } from "../sendCompressed.ts";
import { renderErrorList, renderErrorPages } from "./errorPages.ts";
import { readGuides } from "./guides.ts";
import { renderMarkdown } from "./markdown.ts";
import {
  INDEX_HEADERS,
  MARKDOWN_HEADERS,
  NOTICE_HEADERS,
  PAGE_HEADERS,
  renderPage,
  type DocsPage,
} from "./docsPage.ts";
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
  const send = compressedSender();
  // D20: for a program the root is a path like any other without a route.
  server.get("/", (request, reply) => {
    if (!/\btext\/html\b/.test(request.headers.accept ?? "")) return reply.callNotFound();
    // The local world has a shop to look at.
    const path = server.hasRoute({ method: "GET", url: "/demo" }) ? "/demo" : "/docs";
    return reply.header("vary", "Accept").redirect(path, 302);
  });
  server.get("/docs", (...exchange) => send(exchange, PAGE_HEADERS, docs().reference));
  server.get("/docs/errors", (...exchange) => send(exchange, PAGE_HEADERS, docs().errors));
  server.get("/docs/index", (...exchange) => send(exchange, PAGE_HEADERS, docs().index));
  server.get("/docs/index.json", (...exchange) => send(exchange, INDEX_HEADERS, docs().searchEntries));
  // The licences of what the pages' scripts are built from.
  const notice = readFileSync(new URL("../../../NOTICE", import.meta.url), "utf8");
  server.get("/docs/notice", (...exchange) => send(exchange, NOTICE_HEADERS, notice));
  const sendNamed = (...exchange: Exchange) => {
    const { headers, content } = choosePage(docs().pages, exchange);
    return send(exchange, headers, content);
  };
  server.get("/docs/:name", sendNamed);
  server.get("/docs/:folder/:name", sendNamed);
}

type Exchange = [request: FastifyRequest, reply: FastifyReply];
type DocsHeaders = typeof PAGE_HEADERS | typeof NOTICE_HEADERS | typeof INDEX_HEADERS | typeof MARKDOWN_HEADERS;

/** Sends documents, and compresses each at its first request. The documents are as many as this service has pages. */
function compressedSender() {
  const prepared = new Map<string, Promise<ServedFile>>();
  return async ([request, reply]: Exchange, headers: DocsHeaders, content: string): Promise<FastifyReply> => {
    const file = prepared.get(content) ?? prepareDocument(headers["content-type"], content);
    prepared.set(content, file);
    return sendFile(request, reply.headers(headers), await file);
  };
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

type ChosenPage = { headers: DocsHeaders; content: string };

function choosePage(pages: ReadonlyMap<string, DocsPage>, [request, reply]: Exchange): ChosenPage {
  const [path = ""] = request.url.split("?", 1);
  const page = pages.get(path.replace(/\.md$/, ""));
  if (page === undefined) throw new Fault("not_found", { message: "No such page." });
  reply.header("vary", "Accept");
  const isSource = path.endsWith(".md") || prefersMarkdown(request.headers.accept);
  return isSource
    ? { headers: MARKDOWN_HEADERS, content: page.markdown }
    : { headers: PAGE_HEADERS, content: page.html };
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
