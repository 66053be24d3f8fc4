import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { listenTestApi, testApi } from "../support/api.ts";

type Answer = { encoding: string; headers: IncomingMessage["headers"]; status: number; bytes: Buffer };

/** Sends a request whose answer nobody decodes. */
async function read(port: number, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: "127.0.0.1", port, path, headers }, resolve).on("error", reject);
  });
  const encoding = response.headers["content-encoding"] ?? "identity";
  return { encoding, headers: response.headers, status: response.statusCode ?? 0, bytes: await buffer(response) };
}

function decode({ encoding, bytes }: Answer): string {
  const plain = encoding === "br" ? brotliDecompressSync(bytes) : encoding === "gzip" ? gunzipSync(bytes) : bytes;
  return plain.toString();
}

const NEGOTIATED: readonly [accepted: string | undefined, encoding: string][] = [
  [undefined, "identity"],
  ["identity", "identity"],
  ["gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["br;q=0, gzip", "gzip"],
  ["br;q=0.000, gzip;q=0", "identity"],
  ["BR;q=0.5", "br"],
  ["brotli, xgzip", "identity"],
];

test("every document and script is sent as the client accepts it: brotli, gzip or plain, with the same content", async () => {
  const api = await testApi();
  const port = await listenTestApi(api);
  const { intentId } = await (await api.openMerchant()).createIntent();
  const page = `/c/${intentId}`;
  const script = /src="([^"]*checkout[^"]*\.js)"/.exec(decode(await read(port, page)))?.[1] ?? assert.fail();
  const paths = ["/docs", "/openapi.json", "/docs/errors/not_found", "/docs/index.json", "/sdk/v1.js", page];
  for (const path of [...paths, new URL(script, `http://here${page}`).pathname]) {
    const plain = decode(await read(port, path));
    const sizes = new Map<string, number>();
    for (const [accepted, encoding] of NEGOTIATED) {
      const answer = await read(port, path, accepted === undefined ? {} : { "accept-encoding": accepted });
      assert.deepEqual([answer.status, answer.encoding], [200, encoding], `${path} for ${accepted}`);
      assert.equal(decode(answer), plain, `${path} for ${accepted}`);
      assert.match(String(answer.headers.vary), /Accept-Encoding/);
      sizes.set(encoding, answer.bytes.length);
    }
    const [whole = 0, gzipped = 0, brotli = 0] = ["identity", "gzip", "br"].map((each) => sizes.get(each));
    assert.ok(brotli < gzipped && gzipped < whole, `${path}: ${whole}, ${gzipped} and ${brotli} bytes`);
  }
});

test("the reference and the OpenAPI document travel in a ninth of their size, and a browser that has them gets 304", async () => {
  const port = await listenTestApi(await testApi());
  for (const path of ["/docs", "/openapi.json"]) {
    const whole = await read(port, path);
    const sent = await read(port, path, { "accept-encoding": "gzip, br" });
    assert.ok(
      sent.bytes.length * 9 < whole.bytes.length,
      `${path}: ${sent.bytes.length} of ${whole.bytes.length} bytes`,
    );
    const again = await read(port, path, { "if-none-match": String(sent.headers.etag), "accept-encoding": "br" });
    assert.deepEqual([again.status, again.bytes.length], [304, 0]);
  }
});

test("a guide varies by the form and by the encoding that a client accepts", async () => {
  const port = await listenTestApi(await testApi());
  const guide = "/docs/integrate/errors-and-retries";
  const asMarkdown = await read(port, guide, { accept: "text/markdown", "accept-encoding": "br" });
  assert.match(decode(asMarkdown), /^# /);
  assert.equal(asMarkdown.headers.vary, "Accept, Accept-Encoding");
  assert.match(decode(await read(port, guide, { "accept-encoding": "br" })), /<h1>/);
});
