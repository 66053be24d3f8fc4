import type { FastifyReply, FastifyRequest } from "fastify";
import type { Fault } from "../../kernel/faults.ts";
import { faultHeaders } from "../errorEnvelope.ts";
import { PAGE_HEADERS, renderPage } from "./docsPage.ts";
import { escapeHtml } from "./escapeHtml.ts";

// A person who opens the service's address in a browser gets a page. Programs get the error envelope, with the same
// status.

/** API routes and the checkout answer browsers in their own way. */
const OTHER_PATHS = /^\/(?:api|c|sdk|hooks|dev)\//;

/** Whether the request comes from a browser that opens a page which does not exist. */
export function wantsFaultPage({ method, url, headers }: FastifyRequest, fault: Fault): boolean {
  const isOutsideApi = fault.code === "not_found" || fault.row.status === 400;
  return (
    (method === "GET" || method === "HEAD") &&
    isOutsideApi &&
    !OTHER_PATHS.test(url) &&
    /\btext\/html\b/.test(headers.accept ?? "")
  );
}

export function sendFaultPage(reply: FastifyReply, fault: Fault, request: FastifyRequest): FastifyReply {
  const body = `<h1>Page not found</h1>\n<p>There is no page at this address.</p>\n${LINKS}`;
  const note = `<p><small>Request ${escapeHtml(request.id)}, ${fault.row.status} <code>${fault.code}</code></small></p>`;
  const page = renderPage("Page not found", `${body}\n${note}`);
  const headers = { ...faultHeaders(fault), ...PAGE_HEADERS, "cache-control": "no-store", vary: "Accept" };
  return reply.code(fault.row.status).headers(headers).send(page);
}

const LINKS = `<ul>
<li><a href="/docs">Reference of the API</a></li>
<li><a href="/docs/integrate/first-intent">Your first payment intent</a></li>
<li><a href="/docs/index">All pages</a></li>
</ul>`;
