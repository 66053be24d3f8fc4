import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { listIntentPageOrigins } from "../../intent/checkout/session.ts";
import type { World } from "../../world.ts";

/** Only a well-formed intent id has a page. */
export const CHECKOUT_PATH = "/c/:intentId(^pi_[0-9a-z]+$)";

const ASSETS = {
  "checkout.css": "text/css; charset=utf-8",
  "checkout.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

export const CHECKOUT_HEADERS = { "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" } as const;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
];

/** Adds the page and its assets. Any origin may open the page; only origins on the account's list may frame it. */
export function addCheckoutPageRoutes(server: FastifyInstance, world: World): void {
  const read = (file: string) => readFileSync(new URL(`./page/${file}`, import.meta.url), "utf8");
  const html = read("checkout.html");
  server.get<{ Params: { intentId: string } }>(CHECKOUT_PATH, async (request, reply) => {
    const { intentId } = request.params;
    const headers = {
      ...CHECKOUT_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": [...CONTENT_SECURITY_POLICY, await readFrameAncestors(world, intentId)].join("; "),
    };
    return reply.headers(headers).send(html.replaceAll("{intentId}", intentId));
  });
  for (const [file, type] of Object.entries(ASSETS)) {
    const content = read(file);
    const headers = { ...CHECKOUT_HEADERS, "cache-control": "no-cache", "content-type": type };
    server.get(`${CHECKOUT_PATH}/${file}`, (_request, reply) => reply.headers(headers).send(content));
  }
}

/** Returns the CSP directive. It allows no framing for an unknown intent, or when the database fails. */
async function readFrameAncestors(world: World, intentId: string): Promise<string> {
  try {
    const origins = await listIntentPageOrigins(world, intentId);
    return `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(" ")}`;
  } catch (error) {
    world.log.warn({ err: error }, "reading page origins failed");
    return "frame-ancestors 'none'";
  }
}
