import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { before, test } from "node:test";
import { isDocumentPath } from "../../src/http/documents/isDocumentPath.ts";
import { renderMetrics } from "../../src/metrics/metrics.ts";
import { OPERATIONS } from "../../src/http/operationList.ts";
import { listenTestApi, testApi, UNKNOWN_ID, VERSION, type Merchant, type TestApi } from "../support/api.ts";

// Every path reaches an operation or gets 404. The test writes to a socket because clients normalize paths.

const VERBS = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE"];
const ONE = `/api/v1/intents/${UNKNOWN_ID}`;
const PATHS = [
  "/",
  "//",
  "/api",
  "/api/",
  "/api/v1",
  "/api/v1/",
  "/api/v2/intents",
  "/v1/intents",
  "/API/v1/intents",
  "/api/V1/intents",
  "/api/v1/Intents",
  "/api/v1/intents",
  "/api/v1/intents/",
  "/api/v1/intents//",
  "//api/v1/intents",
  "/api//v1/intents",
  "/api/v1//intents",
  "/api/v1/intents;x=1",
  "/api/v1/intents%2F",
  "/api%2Fv1%2Fintents",
  "/api/v1/intents%00",
  "/api/v1/./intents",
  "/api/v1/x/../intents",
  "/api/v1/%2e%2e/v1/intents",
  "/api/v1/intents\\",
  "/api/v1/intents.json",
  "/api/v1/intents?limit=1",
  "/api/v1/intents/?limit=1",
  "/api/v1/intents#x",
  "/api/v1/intents#?limit=1",
  "/api/v1/intents?merchantReference=a#b",
  "/%61pi/v1/intents",
  "/api/v1/%49ntents",
  "/api/v1/intent%73/",
  ONE,
  `${ONE}/`,
  `${ONE}?x=1`,
  `${ONE}#/origins`,
  `${ONE}/origins`,
  `${ONE}/%6Frigins`,
  `${ONE}/origins/`,
  `${ONE}/Origins`,
  `${ONE}//origins`,
  `${ONE}%2Forigins`,
  `${ONE}/source-inbox`,
  `${ONE}/source_inbox`,
  `${ONE}/view`,
  `${ONE}/view;`,
  `${ONE}/archive/now`,
  "/api/v1/intents/%zz",
  "/api/v1/intents/%E0%A4%A",
  "/docs/errors/",
  "/healthz/",
  "/healthz#x",
];

let api: TestApi;
let port: number;
let merchant: Merchant;

before(async () => {
  api = await testApi();
  port = await listenTestApi(api);
  merchant = await api.openMerchant();
});

async function ask(verb: string, path: string, headers: string): Promise<{ status: number; code: string | undefined }> {
  const socket = connect({ host: "127.0.0.1", port });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => {});
  socket.write(`${verb} ${path} HTTP/1.1\r\nhost: x\r\n${headers}connection: close\r\n\r\n`);
  await once(socket, "close");
  const text = Buffer.concat(chunks).toString("utf8");
  const body = text.split("\r\n\r\n")[1] ?? "";
  const code = /"code":"(\w+)"/.exec(body)?.[1];
  return { status: Number(text.slice(9, 12)), code };
}

/** Matches verb and path against the operations' patterns. A percent-encoded letter equals the letter. */
function isOperation(verb: string, url: string): boolean {
  const [written = ""] = url.split("?");
  const path = written.replaceAll(/%(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/gi, (letter) => decodeURIComponent(letter));
  return OPERATIONS.some(({ method, path: pattern }) => {
    const shape = pattern.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replace("{id}", "(?:[^/%#]|%[0-9a-fA-F]{2})+");
    return method === verb && new RegExp(`^${shape}$`).test(path) && !/%2f/i.test(path) && isDecodable(path);
  });
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

test("§7.2.1, §9.1, D20 only matching routes reach an operation, of 54 paths, 8 verbs and 3 kinds of headers", async () => {
  const version = `service-version: ${VERSION}\r\n`;
  const key = `authorization: ${String(merchant.headers["authorization"])}\r\n`;
  for (const path of PATHS) {
    for (const verb of VERBS) {
      const [bare, unknown, known] = await Promise.all([
        ask(verb, path, ""),
        ask(verb, path, version),
        ask(verb, path, version + key),
      ]);
      const what = `${verb} ${path}`;
      const isRoute = isOperation(verb, path);
      if (isDocumentPath(path)) continue;
      assert.deepEqual([bare.status, bare.code ?? "missing_version"], [400, "missing_version"], what);
      assert.equal(unknown.status, isRoute ? 401 : 404, what);
      // With a valid key, an operation may return 404 for a missing intent.
      if (!isRoute) assert.deepEqual([known.status, known.code ?? "not_found"], [404, "not_found"], what);
      else assert.ok(![401, 405, 501].includes(known.status), what);
    }
  }
});

test("D20, D22 an existing or missing document needs neither version nor key, and every answer has a Request-Id", async () => {
  const folders = [
    "/docs/x",
    "/docs/errors/not_found",
    "/docs/a/b/c",
    "/c/x",
    "/c/x/y",
    "/sdk/x.js",
    "/hooks/x",
    "/dev/x",
  ];
  const pages = ["/docs", "/openapi.json", "/healthz", "/readyz", "/metrics", "/demo", "/ops", "/dashboard"];
  const others = [
    "/",
    "/doc",
    "/docsx",
    "/c",
    "/sdk",
    "/hooks",
    "/dev",
    "/opsx",
    "/demo/",
    "/x/docs/",
    "/DOCS",
    "//docs/x",
  ];
  for (const path of [...folders, ...pages]) {
    const bare = await api.server.inject({ url: path });
    assert.ok([200, 401, 404].includes(bare.statusCode), `${path} ${bare.statusCode}`);
    if (bare.statusCode === 404) assert.equal(bare.json().error.code, "not_found");
    const [versioned, pathWithQuery] = [{ "service-version": "nonsense" }, `${path}?x=1`];
    assert.equal(
      (await api.server.inject({ url: pathWithQuery, headers: versioned })).statusCode,
      bare.statusCode,
      path,
    );
    assert.match(String(bare.headers["request-id"]), /^req_[0-9a-hjkmnp-tv-z]{26}$/, path);
  }
  for (const path of others) {
    const bare = await api.server.inject({ url: path });
    assert.deepEqual([bare.statusCode, bare.json().error.code], [400, "missing_version"], path);
  }
  const known = await merchant.get("/api/v1/intents");
  assert.match(String(known.headers["request-id"]), /^req_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(known.headers["service-version"], VERSION);
});

test("D20 documents answer HEAD as GET, without a body, and operations do not", async () => {
  const { intentId } = await merchant.createIntent();
  const documents = [
    "/docs",
    "/docs/errors/not_found",
    "/openapi.json",
    "/healthz",
    "/readyz",
    "/sdk/v1.js",
    `/c/${intentId}`,
    "/docs/x",
    "/c/x",
  ];
  for (const url of documents) {
    const [head, get] = [await api.send(url, { method: "HEAD" }), await api.send(url)];
    assert.deepEqual([head.status, head.text], [get.status, ""], url);
    for (const name of ["content-type", "cache-control"]) assert.equal(head.headers[name], get.headers[name], url);
  }
  for (const url of ["/api/v1/intents", `/api/v1/intents/${intentId}`])
    assert.equal((await api.send(url, { method: "HEAD", headers: merchant.headers })).status, 404);
  assert.equal((await api.send(`/c/${intentId}/events`, { method: "HEAD" })).status, 404, "a stream has no end");
});

test("a browser at the root is led to the documents; for a program it is a path without a route", async () => {
  const led = await api.server.inject({ url: "/", headers: { accept: "text/html,application/xhtml+xml" } });
  assert.deepEqual([led.statusCode, led.headers["location"], led.headers["vary"]], [302, "/docs", "Accept"]);
  for (const accept of ["application/json", "*/*"])
    assert.equal((await api.server.inject({ url: "/", headers: { accept } })).json().error.code, "missing_version");
  const versioned = await api.server.inject({ url: "/", headers: { "service-version": VERSION } });
  assert.deepEqual([versioned.statusCode, versioned.json().error.code], [404, "not_found"]);
});

test("each request is measured by kind and class of status, and never by its path", async () => {
  const { world } = api;
  const countsOf = async () => {
    const { text } = await renderMetrics(world);
    const lines = text.matchAll(/^tributary_http_request_seconds_count\{kind="(\w+)",status="(\dxx)"\} (\d+)$/gm);
    return new Map(Array.from(lines, ([, kind, status, count]) => [`${kind} ${status}`, Number(count)]));
  };
  const before = await countsOf();
  await api.server.inject({ url: "/healthz" });
  await api.server.inject({ url: ONE, headers: { "service-version": VERSION } });
  await api.server.inject({ url: `/c/${UNKNOWN_ID}/state` });
  await api.server.inject({ url: "/no/such/path" });
  const after = await countsOf();
  const grown = [...after].flatMap(([key, count]) => (count > (before.get(key) ?? 0) ? [key] : []));
  for (const key of ["document 2xx", "api 4xx", "checkout 4xx", "none 4xx"])
    assert.ok(grown.includes(key), `${key}: ${grown.join()}`);
});
