import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { prepareFile, sendFile } from "../sendCompressed.ts";

// The files and headers of the dashboard and the operator's page. Both are built in packages/dashboard.

/** Nothing inline, nothing from elsewhere, and no page around it. Scripts create no HTML from texts. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Without a referrer a browser sends no origin with a form either, by which a form of another site is told. */
export const PRIVATE_HEADERS = {
  "cache-control": "no-store",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

export const PAGE_HEADERS = {
  ...PRIVATE_HEADERS,
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  vary: "Accept-Encoding, Accept-Language, Cookie",
} as const;

const FILE_HEADERS = {
  link: `</docs/notice>; rel="license"`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
};

const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

/** Adds built files below a path, by their names without "generated". */
export function addPageFiles(server: FastifyInstance, path: string, names: readonly string[]): void {
  for (const name of names) {
    const [stem = "", type = ""] = name.split(".");
    const source = new URL(`../../../packages/dashboard/${stem}.generated.${type}`, import.meta.url);
    const contentType = type === "css" ? TYPES.css : TYPES.js;
    const file = prepareFile({ name, contentType, content: readFileSync(source, "utf8").trimEnd() });
    server.get(`${path}/${name}`, (request, reply) => sendFile(request, reply.headers(FILE_HEADERS), file));
  }
}

/**
 * Whether another site caused a request. Browsers say it in Sec-Fetch-Site; the others send the origin of a form, which
 * is compared with the address of the request and, behind a proxy that changes it, with the public one.
 */
export function isForeignRequest({ headers }: FastifyRequest, baseUrl: string): boolean {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  if (origin === undefined) return false;
  const from = URL.parse(origin)?.host;
  return from === undefined || (from !== host && from !== new URL(baseUrl).host);
}

/** Cookies of one name in a request, and nothing else of the header. */
export function readCookies({ headers }: FastifyRequest, name: string): string[] {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}

export type PageCookie = { name: string; value: string; path: string; maxAgeMs: number; isSecure: boolean };

/** Scripts cannot read it, and no other site's request carries it. */
export function setPageCookie(reply: FastifyReply, { name, value, path, maxAgeMs, isSecure }: PageCookie): void {
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${Math.floor(maxAgeMs / 1_000)}`];
  reply.header("set-cookie", [...parts, "HttpOnly", "SameSite=Strict", ...(isSecure ? ["Secure"] : [])].join("; "));
}
