import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { errorList, errorPages } from "./errorPages.ts";
import { readGuides } from "./guides.ts";
import { renderMarkdown } from "./markdown.ts";
import { MARKDOWN_HEADERS, PAGE_HEADERS, renderPage, type Page } from "./page.ts";
import { renderReference } from "./reference/page.ts";

/**
 * `/docs` and what lies below it. A page that was written in Markdown is also served as that: to whoever asks for text/markdown, and
 * at its address with `.md` behind it. All pages are made once, at the start; throws when an error has none.
 */
export function addPages(server: FastifyInstance, baseUrl: string): void {
  const guides = readGuides();
  const pages = new Map<string, Page>([
    ...errorPages(baseUrl),
    ...guides.map(({ url, title, markdown }): [string, Page] => [url, { html: guidePage(title, markdown), markdown }]),
  ]);
  const reference = renderReference(baseUrl, guides);
  const list = errorList();
  server.get("/docs", (_request, reply) => reply.headers(PAGE_HEADERS).send(reference));
  server.get("/docs/errors", (_request, reply) => reply.headers(PAGE_HEADERS).send(list));
  server.get("/docs/:folder/:name", (request, reply) => sendPage(pages, request, reply));
}

function sendPage(pages: ReadonlyMap<string, Page>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = ""] = request.url.split("?", 1);
  const page = pages.get(path.replace(/\.md$/, ""));
  if (page === undefined) throw new Fault("not_found", { message: "There is no such page." });
  reply.header("vary", "Accept");
  const isSource = path.endsWith(".md") || prefersMarkdown(request.headers.accept);
  return isSource ? reply.headers(MARKDOWN_HEADERS).send(page.markdown) : reply.headers(PAGE_HEADERS).send(page.html);
}

/** Whoever names Markdown and not HTML; a browser never names it. */
function prefersMarkdown(accept = ""): boolean {
  return /\btext\/markdown\b/.test(accept) && !/\btext\/html\b/.test(accept);
}

function guidePage(title: string, markdown: string): string {
  return renderPage(title, `<nav><a href="/docs">Reference and guides</a></nav>\n${renderMarkdown(markdown)}`);
}
