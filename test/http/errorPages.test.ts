import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { faultRows } from "../../src/kernel/faults.ts";
import { assertFault, testApi } from "../support/api.ts";

const FOLDER = new URL("../../docs/errors/", import.meta.url);
const CODES = Object.keys(faultRows).toSorted();

/** All published codes. New codes add a line; lines never change or go, because clients compare codes. */
const PUBLISHED = {
  missing_version: 400,
  invalid_version: 400,
  unsupported_version: 400,
  invalid_request: 400,
  invalid_json: 400,
  invalid_content_type: 400,
  invalid_cursor: 400,
  price_required: 400,
  unsupported_destination: 400,
  wallet_required: 400,
  token_required: 400,
  destination_required: 400,
  unsupported_origin: 400,
  unauthorized: 401,
  key_revoked: 401,
  key_expired: 401,
  insufficient_scope: 403,
  account_suspended: 403,
  not_found: 404,
  destination_conflict: 409,
  intent_has_pending_deposits: 409,
  webhook_endpoint_limit: 409,
  webhook_endpoint_disabled: 409,
  events_expired: 410,
  idempotency_key_reuse: 409,
  request_in_progress: 409,
  payload_too_large: 413,
  rate_limited: 429,
  source_inbox_refused: 500,
  internal_error: 500,
  source_inbox_unavailable: 503,
  source_inbox_not_active: 503,
  customer_not_bound: 503,
};

test("D22 every published code still exists with its original status", () => {
  const now = Object.fromEntries(Object.entries(faultRows).map(([code, { status }]) => [code, status]));
  assert.deepEqual(now, PUBLISHED);
});

test("D22 each code has a page, and each page has a code", () => {
  const pages = readdirSync(FOLDER).map((file) => file.replace(/\.md$/, ""));
  assert.deepEqual(pages.toSorted(), CODES);
});

test("D22 every page shows cause, remedy and example at the URL that errors name", async () => {
  const api = await testApi();
  for (const code of CODES) {
    const markdown = readFileSync(new URL(`${code}.md`, FOLDER), "utf8");
    assert.match(markdown, new RegExp(`^# ${code}\n[^]*## Cause\n[^]*## Remedy\n[^]*## Example\n[^]*\`\`\``));
    const { status, headers, text } = await api.send(`/docs/errors/${code}`);
    assert.equal(status, 200);
    assert.match(String(headers["content-type"]), /^text\/html/);
    assert.match(text, new RegExp(`<h1>${code}</h1>`));
  }
});

test("D22 a page is also available as Markdown with the code's example answer", async () => {
  const api = await testApi();
  for (const code of CODES) {
    const bySuffix = await api.send(`/docs/errors/${code}.md`);
    const byHeader = await api.send(`/docs/errors/${code}`, { headers: { accept: "text/markdown, text/plain;q=0.5" } });
    for (const { status, headers, text } of [bySuffix, byHeader]) {
      assert.equal(status, 200);
      assert.match(String(headers["content-type"]), /^text\/markdown/);
      assert.ok(text.startsWith(`# ${code}\n`));
      const [, answer = ""] = /## Response\n\n```json\n([^]*?)\n```/.exec(text) ?? [];
      assert.equal(JSON.parse(answer).error.code, code);
    }
  }
  const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  assert.match((await api.send("/docs/errors/not_found", { headers: browser })).text, /^<!doctype html>/);
});

test("D22 the error list links to every error page", async () => {
  const api = await testApi();
  const { text } = await api.send("/docs/errors");
  for (const code of CODES) assert.ok(text.includes(`href="/docs/errors/${code}"`), code);
});

test("D20 a missing document gets 404 without a version", async () => {
  const api = await testApi();
  for (const url of ["/docs/errors/nonsense", "/docs/errors/%2e%2e%2fnotes", "/docs/x", "/dev/x"]) {
    assertFault(await api.send(url), 404, "not_found");
  }
});

test("D20 every other path is an API path: first its version, then the route", async () => {
  const api = await testApi();
  for (const url of ["/", "/docsx", "/healthz/", "/c", "/favicon.ico"]) {
    assertFault(await api.send(url), 400, "missing_version");
    assertFault(await api.send(url, { headers: { "service-version": "2026-11-01" } }), 404, "not_found");
  }
});

test("the health endpoints report a healthy process and database", async () => {
  const api = await testApi();
  for (const url of ["/healthz", "/readyz"]) assert.deepEqual((await api.send(url)).body, { status: "ok" });
});

test("D20 a browser gets a page for missing pages, with the same statuses; programs get the envelope", async () => {
  const api = await testApi();
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  for (const [url, status, text] of [
    ["/nothing", 400, /<h1>Page not found<\/h1>/],
    ["/docs/nothing", 404, /<h1>Page not found<\/h1>/],
  ] as const) {
    const page = await api.server.inject({ url, headers: { accept } });
    assert.equal(page.statusCode, status, url);
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    assert.match(page.body, text);
    assert.ok(page.headers["request-id"]);
    assert.equal((await api.server.inject({ url })).json().error.request_id.slice(0, 4), "req_");
  }
  const call = await api.server.inject({ url: "/api/v1/intents", headers: { accept } });
  assert.equal(call.json().error.code, "missing_version");
});
